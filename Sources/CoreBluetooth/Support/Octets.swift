import Foundation

// Values change their form here, in one copy of all octets at once: the initializers that take any sequence cost half
// again as much.

extension Data {
    /// The same octets as apps have them.
    init(octets: [UInt8]) { self = octets.withUnsafeBytes { Data($0) } }

    /// The same octets as apps have them.
    init(octets: ArraySlice<UInt8>) { self = octets.withUnsafeBytes { Data($0) } }
}

extension [UInt8] {
    /// The same octets as the host has them.
    init(octetsOf data: Data) { self = data.withUnsafeBytes { [UInt8]($0) } }
}
