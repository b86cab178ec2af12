import Foundation

// Conversions between `Data` and arrays that copy all octets in one operation. The initializers that take any sequence
// take one and a half times as long.

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
