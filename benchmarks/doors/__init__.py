"""The doors of `hbstore serve` under load: crowds of silent and slow clients, slow readers, and faults."""
