/// The properties of a characteristic.
public struct CBCharacteristicProperties: OptionSet, Sendable {
    /// The octet of the characteristic declaration, and above it the bits that only exist locally.
    public let rawValue: UInt

    /// Creates properties from their bits.
    public init(rawValue: UInt) { self.rawValue = rawValue }

    /// The value may be broadcast in advertisements.
    ///
    /// Not for local characteristics.
    public static var broadcast: Self { Self(rawValue: 0x01) }
    /// The value can be read.
    public static var read: Self { Self(rawValue: 0x02) }
    /// The value can be written without a response.
    public static var writeWithoutResponse: Self { Self(rawValue: 0x04) }
    /// The value can be written with a response.
    public static var write: Self { Self(rawValue: 0x08) }
    /// The peripheral sends the value in notifications.
    public static var notify: Self { Self(rawValue: 0x10) }
    /// The peripheral sends the value in indications, which are confirmed.
    public static var indicate: Self { Self(rawValue: 0x20) }
    /// The value can be written with a signature.
    public static var authenticatedSignedWrites: Self { Self(rawValue: 0x40) }
    /// A descriptor contains further properties.
    ///
    /// Not for local characteristics.
    public static var extendedProperties: Self { Self(rawValue: 0x80) }
    /// Only trusted devices can subscribe to notifications.
    ///
    /// For local characteristics.
    public static var notifyEncryptionRequired: Self { Self(rawValue: 0x100) }
    /// Only trusted devices can subscribe to indications.
    ///
    /// For local characteristics.
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
    /// Only trusted devices can read.
    public static var readEncryptionRequired: Self { Self(rawValue: 0x04) }
    /// Only trusted devices can write.
    public static var writeEncryptionRequired: Self { Self(rawValue: 0x08) }
}
