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


@handlers.answers("get_notification_events_count")
def get_notification_events_count(_: Call) -> Any:
    """How many events there are: none."""
    return THRIFT.NotificationEventsCountResponse(eventsCount=0)


@handlers.answers("add_write_notification_log")
def add_write_notification_log(_: Call) -> Any:
    """A client tells of files that a transaction wrote; nobody listens."""
    return THRIFT.WriteNotificationLogResponse()


@handlers.answers("add_write_notification_log_in_batch")
def add_write_notification_log_in_batch(_: Call) -> Any:
    """The same of many files."""
    return THRIFT.WriteNotificationLogBatchResponse()


@handlers.answers("fire_listener_event")
def fire_listener_event(_: Call) -> Any:
    """A client tells of data that it inserted; nobody listens."""
    return THRIFT.FireEventResponse()
