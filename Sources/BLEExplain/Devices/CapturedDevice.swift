package import BLEWire

/// A device as a capture shows it: its attributes and advertisement, as far as they were seen.
///
/// ``DeviceRecorder`` makes it. Attributes are in ascending order of their handles.
package struct CapturedDevice: Equatable, Sendable {
    /// A service with its characteristics.
    package struct Service: Equatable, Sendable {
        package let uuid: BluetoothUUID
        package let isPrimary: Bool
        package let handle: UInt16
        /// The last handle of the service.
        package let end: UInt16
        package internal(set) var includes: [BluetoothUUID] = []
        package internal(set) var characteristics: [Characteristic] = []
    }

    /// A characteristic with its descriptors.
    package struct Characteristic: Equatable, Sendable {
        package let uuid: BluetoothUUID
        /// The properties in the declaration.
        package let properties: UInt8
        /// The handle of the value.
        package let handle: UInt16
        /// The value of the first read; `nil` if no read was seen.
        package internal(set) var value: [UInt8]?
        /// True if the device refused a request about the value or a descriptor, because the link was not encrypted or
        /// not authenticated.
        package internal(set) var isProtected = false
        /// The descriptors, except Extended Properties and the Client and Server Characteristic Configurations, which
        /// the properties imply.
        package internal(set) var descriptors: [Descriptor] = []
        package internal(set) var notifications: Notifications?
        package internal(set) var answers: [Answer] = []
    }

    /// A descriptor of a characteristic.
    package struct Descriptor: Equatable, Sendable {
        package let uuid: BluetoothUUID
        package let handle: UInt16
        /// The value of the first read; `nil` if no read was seen.
        package let value: [UInt8]?
    }

    /// Values that the device sent by itself.
    package struct Notifications: Equatable, Sendable {
        /// The median time between two values, in milliseconds, from 1 ms to a day; 1000 if there is only one value.
        package let interval: Int
        /// The values; if they repeat in a cycle, one cycle of them.
        package let values: [[UInt8]]
    }

    /// A value that the device sent whenever a certain value was written.
    package struct Answer: Equatable, Sendable {
        /// The written value.
        package let written: [UInt8]
        /// The sent value.
        package let value: [UInt8]
        /// The characteristic of the sent value.
        package let characteristic: BluetoothUUID
        /// The time from the write to the value, in milliseconds.
        package let delay: Int
    }

    /// The advertising packets of a device.
    package struct Advertisement: Equatable, Sendable {
        package internal(set) var data: [UInt8] = []
        package internal(set) var scanResponse: [UInt8] = []
        package internal(set) var isLegacy = true
        package internal(set) var isConnectable = true
    }

    /// The address of the device; “host” for the captured host, and “link” with the link's handle if the address is
    /// unknown.
    package let address: String
    /// The address of the device if it is public or random static; otherwise `nil`.
    package let identity: DeviceAddress?
    /// True if the device is the host that was captured, and false if it is a peer of that host.
    package let isHost: Bool
    /// The value of the Device Name characteristic, otherwise the advertised name; `nil` if neither was seen.
    package internal(set) var name: String?
    /// The MTU that the device offered; `nil` if no exchange was seen.
    package internal(set) var mtu: Int?
    package internal(set) var services: [Service] = []
    package internal(set) var advertisement: Advertisement?
    /// The number of written values after which the device sent different values at different times.
    package internal(set) var variableAnswers = 0
}
