"""Times: moments in UTC, update periods, and time ranges as people write them."""
