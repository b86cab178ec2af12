/// The descriptor that says whether a characteristic allows reliable writes and a writable description.
public let CBUUIDCharacteristicExtendedPropertiesString: String = "2900"

/// The descriptor that describes a characteristic in words.
public let CBUUIDCharacteristicUserDescriptionString: String = "2901"

/// The descriptor by which a client has a characteristic notify or indicate.
public let CBUUIDClientCharacteristicConfigurationString: String = "2902"

/// The descriptor by which a characteristic is broadcast.
public let CBUUIDServerCharacteristicConfigurationString: String = "2903"

/// The descriptor that says in what format and unit a value is.
public let CBUUIDCharacteristicFormatString: String = "2904"

/// The descriptor that lists the formats of a value with several parts.
public let CBUUIDCharacteristicAggregateFormatString: String = "2905"

/// The descriptor that says between which limits a value lies.
public let CBUUIDCharacteristicValidRangeString: String = "2906"

/// The descriptor that says when a value is observed.
public let CBUUIDCharacteristicObservationScheduleString: String = "2910"

/// The characteristic by which a device tells the PSM of an L2CAP channel: two octets, least significant first.
public let CBUUIDL2CAPPSMCharacteristicString: String = "ABDD3056-28FA-441D-A470-55A75A52553A"
