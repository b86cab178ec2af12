/// The descriptor for reliable writes and writable descriptions (Characteristic Extended Properties).
public let CBUUIDCharacteristicExtendedPropertiesString: String = "2900"

/// The descriptor with a textual description (Characteristic User Description).
public let CBUUIDCharacteristicUserDescriptionString: String = "2901"

/// The descriptor with which a client subscribes (Client Characteristic Configuration).
public let CBUUIDClientCharacteristicConfigurationString: String = "2902"

/// The descriptor with which a client starts broadcasts (Server Characteristic Configuration).
public let CBUUIDServerCharacteristicConfigurationString: String = "2903"

/// The descriptor with the format and unit of a value (Characteristic Presentation Format).
public let CBUUIDCharacteristicFormatString: String = "2904"

/// The descriptor with the formats of a compound value (Characteristic Aggregate Format).
public let CBUUIDCharacteristicAggregateFormatString: String = "2905"

/// The descriptor with the limits of a value (Valid Range).
public let CBUUIDCharacteristicValidRangeString: String = "2906"

/// The descriptor with the times at which a value is observed.
public let CBUUIDCharacteristicObservationScheduleString: String = "2910"

/// The characteristic with which a device announces the PSM of an L2CAP channel: two octets, least significant first.
public let CBUUIDL2CAPPSMCharacteristicString: String = "ABDD3056-28FA-441D-A470-55A75A52553A"
