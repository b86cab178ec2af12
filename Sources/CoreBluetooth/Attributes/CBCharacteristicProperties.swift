/// What a characteristic can do.
public struct CBCharacteristicProperties: OptionSet, Sendable {
    /// The octet of the declaration, and above it what only the own server knows.
    public let rawValue: UInt

    /// Creates properties from their bits.
    public init(rawValue: UInt) { self.rawValue = rawValue }

    /// It may be part of an advertisement; not for local characteristics.
    public static var broadcast: Self { Self(rawValue: 0x01) }
    /// It may be read.
    public static var read: Self { Self(rawValue: 0x02) }
    /// It may be written without an answer.
    public static var writeWithoutResponse: Self { Self(rawValue: 0x04) }
    /// It may be written with an answer.
    public static var write: Self { Self(rawValue: 0x08) }
    /// It sends its value by itself.
    public static var notify: Self { Self(rawValue: 0x10) }
    /// It sends its value by itself and waits until the other side has it.
    public static var indicate: Self { Self(rawValue: 0x20) }
    /// It may be written with a signature.
    public static var authenticatedSignedWrites: Self { Self(rawValue: 0x40) }
    /// A descriptor says more; not for local characteristics.
    public static var extendedProperties: Self { Self(rawValue: 0x80) }
    /// Only trusted devices may have it notify; for local characteristics.
    public static var notifyEncryptionRequired: Self { Self(rawValue: 0x100) }
    /// Only trusted devices may have it indicate; for local characteristics.
    public static var indicateEncryptionRequired: Self { Self(rawValue: 0x200) }
}

/// Who may read and write a local characteristic.
public struct CBAttributePermissions: OptionSet, Sendable {
    /// One bit for each permission.
    public let rawValue: UInt

    /// Creates permissions from their bits.
    public init(rawValue: UInt) { self.rawValue = rawValue }

    /// Everybody may read.
    public static var readable: Self { Self(rawValue: 0x01) }
    /// Everybody may write.
    public static var writeable: Self { Self(rawValue: 0x02) }
    /// Trusted devices may read.
    public static var readEncryptionRequired: Self { Self(rawValue: 0x04) }
    /// Trusted devices may write.
    public static var writeEncryptionRequired: Self { Self(rawValue: 0x08) }
}
