package import BLEHost
import BLEWire
import CoreFoundation
import Foundation
package import FoundationEssentials

extension UUID {
    /// Creates the identifier by which apps know a peer.
    package init(_ peer: PeerIdentifier) {
        self = withUnsafeBytes(of: peer.rawValue.bigEndian) { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
    }

    /// The 128 bits, most significant first.
    var bits: UInt128 {
        withUnsafeBytes(of: uuid) { UInt128(bigEndian: $0.loadUnaligned(as: UInt128.self)) }
    }
}

extension CFUUID {
    /// The 128 bits, most significant first.
    var bits: UInt128 {
        withUnsafeBytes(of: CFUUIDGetUUIDBytes(self)) { UInt128(bigEndian: $0.loadUnaligned(as: UInt128.self)) }
    }
}

extension PeerIdentifier {
    package init(_ identifier: UUID) { self.init(rawValue: identifier.bits) }
}

extension NSObject {
    /// The memory address of the object, for descriptions.
    var address: String {
        "0x" + String(UInt(bitPattern: Unmanaged.passUnretained(self).toOpaque()), radix: 16)
    }
}
