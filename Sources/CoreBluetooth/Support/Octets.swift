import Foundation

// Values change their form here, in one copy of all octets at once: the initializers that take any sequence cost half
// again as much.

extension Data {
    /// Converts octets to `Data`.
    init(octets: [UInt8]) { self = octets.withUnsafeBytes { Data($0) } }

    /// Converts octets to `Data`.
    init(octets: ArraySlice<UInt8>) { self = octets.withUnsafeBytes { Data($0) } }
}

extension [UInt8] {
    /// Converts `Data` to octets.
    init(octetsOf data: Data) { self = data.withUnsafeBytes { [UInt8]($0) } }
}
