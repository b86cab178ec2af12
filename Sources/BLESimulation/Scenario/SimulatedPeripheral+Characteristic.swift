extension SimulatedPeripheral {
    /// What a central can do with a characteristic; called as in Core Bluetooth.
    public enum Property: String, Hashable, Sendable, Codable, CaseIterable {
        /// Read its value.
        case read
        /// Write its value and hear that it was taken.
        case write
        /// Write its value and hear nothing.
        case writeWithoutResponse
        /// Be sent its value as it changes.
        case notify
        /// Be sent its value as it changes, and confirm that.
        case indicate
        /// Write its value without a response, signed with a key of the bond.
        case authenticatedSignedWrites
        /// Be sent its value as it changes, if paired.
        case notifyEncryptionRequired
        /// Be sent its value as it changes, if paired, and confirm that.
        case indicateEncryptionRequired
    }

    /// Who may read and write a value; called as in Core Bluetooth.
    public enum Permission: String, Hashable, Sendable, Codable, CaseIterable {
        /// Everybody may read it.
        case readable
        /// Everybody may write it.
        case writeable
        /// Who is paired may read it.
        case readEncryptionRequired
        /// Who is paired may write it.
        case writeEncryptionRequired
    }

    /// What a characteristic sends by itself while a central is subscribed.
    public struct Notifications: Hashable, Sendable {
        /// The time from one value to the next; a millisecond at least.
        public var interval: Duration
        /// The values, one after the other and again from the beginning.
        public var values: [[UInt8]]

        /// Creates a cycle of values, of which the first comes one `interval` after the subscription.
        public init(every interval: Duration, _ values: [[UInt8]]) {
            self.interval = interval
            self.values = values
        }
    }

    /// A characteristic of a simulated peripheral.
    public struct Characteristic: Hashable, Sendable {
        /// Its type, in one of the forms that `CBUUID` takes.
        public var uuid: String
        /// What can be done with it.
        public var properties: [Property]
        /// Its value at the beginning; 512 octets at most.
        public var value: [UInt8]
        /// What it sends by itself, if anything.
        public var notifications: Notifications?
        /// What describes it, beside the descriptors that follow from its properties.
        public var descriptors: [Descriptor]
        /// Whether only those may use it who are paired with the device: a central pairs when it first tries.
        public var isProtected: Bool
        /// Who may read and write it, where that is another than follows from its properties and ``isProtected``.
        public var permissions: [Permission]?

        /// Creates a characteristic; there may be several of one type.
        public init(
            _ uuid: String,
            _ properties: [Property],
            value: [UInt8] = [],
            notifies notifications: Notifications? = nil,
            descriptors: [Descriptor] = [],
            isProtected: Bool = false,
            permissions: [Permission]? = nil
        ) {
            self.uuid = uuid
            self.properties = properties
            self.value = value
            self.notifications = notifications
            self.descriptors = descriptors
            self.isProtected = isProtected
            self.permissions = permissions
        }

        /// The properties with which it is published: what is protected is sent to paired devices alone.
        package var publishedProperties: [Property] {
            guard isProtected else { return properties }
            return properties.map { property in
                switch property {
                case .notify: .notifyEncryptionRequired
                case .indicate: .indicateEncryptionRequired
                case .read, .write, .writeWithoutResponse, .authenticatedSignedWrites, .notifyEncryptionRequired,
                    .indicateEncryptionRequired:
                    property
                }
            }
        }

        /// Who may read and write it: what is said of that, or else whoever the properties are meant for.
        package var publishedPermissions: [Permission] {
            if let permissions { return permissions }
            return properties.compactMap { property in
                switch property {
                case .read: isProtected ? .readEncryptionRequired : .readable
                case .write, .writeWithoutResponse: isProtected ? .writeEncryptionRequired : .writeable
                case .notify, .indicate, .authenticatedSignedWrites, .notifyEncryptionRequired,
                    .indicateEncryptionRequired:
                    nil
                }
            }
        }
    }

    /// What describes a characteristic, with a value that never changes.
    public struct Descriptor: Hashable, Sendable {
        /// Its type, in one of the forms that `CBUUID` takes.
        public var uuid: String
        /// Its value; 512 octets at most.
        public var value: [UInt8]

        /// Creates a descriptor.
        public init(_ uuid: String, value: [UInt8]) {
            self.uuid = uuid
            self.value = value
        }

        /// Creates a description in words, 2901.
        public init(text: String) { self.init("2901", value: Array(text.utf8)) }
    }
}
