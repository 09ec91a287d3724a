"""Notifications: no event is recorded, and that is what clients are told, as by a metastore without a listener."""

from __future__ import annotations

from typing import Any

from hbstore.metastore.calls import Call, Handlers
from hbstore.metastore.protocol import THRIFT

handlers = Handlers()


@handlers.answers("get_current_notificationEventId")
def get_current_notification_event_id(_: Call) -> Any:
    """The number of the last event: none."""
    return THRIFT.CurrentNotificationEventId(eventId=0)


@handlers.answers("get_next_notification")
def get_next_notification(_: Call) -> Any:
    """The events after a number: none."""
    return THRIFT.NotificationEventResponse(events=[])


@handlers.answers("fire_listener_event")
def fire_listener_event(_: Call) -> Any:
    """A client tells of data that it inserted; nobody listens."""
    return THRIFT.FireEventResponse()
