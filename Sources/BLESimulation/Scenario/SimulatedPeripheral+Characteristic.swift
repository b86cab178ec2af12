extension SimulatedPeripheral {
    /// A property of a characteristic, named as in Core Bluetooth.
    public enum Property: String, Hashable, Sendable, Codable, CaseIterable {
        /// The value can be read.
        case read
        /// The value can be written with a response.
        case write
        /// The value can be written without a response.
        case writeWithoutResponse
        /// The device sends the value in notifications.
        case notify
        /// The device sends the value in indications.
        case indicate
        /// The value can be written with a signature.
        case authenticatedSignedWrites
        /// The device sends the value in notifications, but only to paired devices.
        case notifyEncryptionRequired
        /// The device sends the value in indications, but only to paired devices.
        case indicateEncryptionRequired
    }

    /// A permission of a characteristic, named as in Core Bluetooth.
    public enum Permission: String, Hashable, Sendable, Codable, CaseIterable {
        /// All devices can read.
        case readable
        /// All devices can write.
        case writeable
        /// Only paired devices can read.
        case readEncryptionRequired
        /// Only paired devices can write.
        case writeEncryptionRequired
    }

    /// The values that a characteristic sends while a central is subscribed.
    public struct Notifications: Hashable, Sendable {
        /// The time from one value to the next; at least a millisecond.
        public var interval: Duration
        /// The values, which are sent one after another; after the last one, the first is sent again.
        public var values: [[UInt8]]

        /// Creates a cycle of values.
        ///
        /// The first value is sent one `interval` after the subscription.
        public init(every interval: Duration, _ values: [[UInt8]]) {
            self.interval = interval
            self.values = values
        }
    }

    /// A value that a characteristic sends after a certain value was written to it or to another characteristic.
    public struct Answer: Hashable, Sendable {
        /// The written value.
        public var written: [UInt8]
        /// The value to send.
        public var value: [UInt8]
        /// The type of the characteristic that sends the value, in one of the forms of `CBUUID`.
        public var characteristic: String
        /// The time from the write to the value.
        public var delay: Duration

        /// Creates an answer.
        public init(to written: [UInt8], _ value: [UInt8], of characteristic: String, after delay: Duration = .zero) {
            self.written = written
            self.value = value
            self.characteristic = characteristic
            self.delay = delay
        }
    }

    /// A characteristic: its type, properties and initial value, and the values that it sends to subscribers or in
    /// answer to writes.
    public struct Characteristic: Hashable, Sendable {
        /// The type, in one of the forms of `CBUUID`.
        public var uuid: String
        /// The properties.
        public var properties: [Property]
        /// The initial value; at most 512 octets.
        public var value: [UInt8]
        /// The values that the characteristic sends while a central is subscribed; `nil` if it sends none by itself.
        public var notifications: Notifications?
        /// The descriptors, in addition to those that follow from the properties.
        public var descriptors: [Descriptor]
        /// True if only paired devices can use the characteristic.
        ///
        /// A central pairs when it first accesses the characteristic.
        public var isProtected: Bool
        /// The permissions; `nil` for those that follow from the properties and ``isProtected``.
        public var permissions: [Permission]?
        /// The values that the device sends after writes to this characteristic.
        ///
        /// A write triggers every answer whose ``Answer/written`` equals the written value. A closure set with
        /// ``Machine/onWrite(_:_:)`` replaces the answers.
        public var answers: [Answer] = []
        /// False if ``value`` is a placeholder, because the description was made from a capture that does not show the
        /// value.
        public var isValueKnown = true

        /// Creates a characteristic.
        ///
        /// A service may have several characteristics of one type.
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

        /// Returns the answers to a written value.
        package func answers(to written: [UInt8]) -> [Answer] { answers.filter { $0.written == written } }

        /// The properties to publish: those of the description, except that a protected characteristic sends
        /// notifications and indications only to paired devices.
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

        /// The permissions to publish: ``permissions`` if they are given, otherwise those that follow from the
        /// properties and ``isProtected``.
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

    /// A descriptor with a constant value.
    public struct Descriptor: Hashable, Sendable {
        /// The type, in one of the forms of `CBUUID`.
        public var uuid: String
        /// The value; at most 512 octets.
        public var value: [UInt8]
        /// False if ``value`` is a placeholder, because the description was made from a capture that does not show the
        /// value.
        public var isValueKnown = true

        /// Creates a descriptor.
        public init(_ uuid: String, value: [UInt8]) {
            self.uuid = uuid
            self.value = value
        }

        /// Creates a user description (2901).
        public init(text: String) { self.init("2901", value: Array(text.utf8)) }
    }
}
