/// The properties of a characteristic.
public struct CBCharacteristicProperties: OptionSet, Sendable {
    /// One bit for each property.
    ///
    /// The lowest octet has the same bits as in the characteristic declaration. The bits above it exist only for local
    /// characteristics.
    public let rawValue: UInt

    /// Creates properties from their bits.
    public init(rawValue: UInt) { self.rawValue = rawValue }

    /// The value may be broadcast in advertisements.
    ///
    /// A local characteristic cannot have this property.
    public static var broadcast: Self { Self(rawValue: 0x01) }
    /// The value can be read.
    public static var read: Self { Self(rawValue: 0x02) }
    /// The value can be written without a response.
    public static var writeWithoutResponse: Self { Self(rawValue: 0x04) }
    /// The value can be written with a response.
    public static var write: Self { Self(rawValue: 0x08) }
    /// The peripheral sends the value in notifications.
    public static var notify: Self { Self(rawValue: 0x10) }
    /// The peripheral sends the value in indications, which the central confirms.
    public static var indicate: Self { Self(rawValue: 0x20) }
    /// The value can be written with a signature.
    public static var authenticatedSignedWrites: Self { Self(rawValue: 0x40) }
    /// A descriptor contains further properties.
    ///
    /// A local characteristic cannot have this property.
    public static var extendedProperties: Self { Self(rawValue: 0x80) }
    /// Only paired devices can subscribe to notifications.
    ///
    /// Only a local characteristic can have this property.
    public static var notifyEncryptionRequired: Self { Self(rawValue: 0x100) }
    /// Only paired devices can subscribe to indications.
    ///
    /// Only a local characteristic can have this property.
    public static var indicateEncryptionRequired: Self { Self(rawValue: 0x200) }
}

/// The read and write permissions of a local characteristic.
public struct CBAttributePermissions: OptionSet, Sendable {
    /// One bit for each permission.
    public let rawValue: UInt

    /// Creates permissions from their bits.
    public init(rawValue: UInt) { self.rawValue = rawValue }

    /// All devices can read.
    public static var readable: Self { Self(rawValue: 0x01) }
    /// All devices can write.
    public static var writeable: Self { Self(rawValue: 0x02) }
    /// Only paired devices can read.
    public static var readEncryptionRequired: Self { Self(rawValue: 0x04) }
    /// Only paired devices can write.
    public static var writeEncryptionRequired: Self { Self(rawValue: 0x08) }
}
