import BLEBlueZ
import BLERuntime
import BLEWire
import Glibc

/// The name and address under which programs see a radio.
struct AdapterIdentity {
    let adapter: BlueZBridge.Adapter

    /// Creates the identity of the daemon's radio with this name.
    ///
    /// The kernel reports the address of an adapter. A radio that the kernel does not know, such as a simulated radio,
    /// gets a static random address that depends only on its name.
    init(radio: String) {
        let index = radio.hasPrefix("hci:") ? UInt16(radio.dropFirst(4)) : nil
        let name = "hci\(index ?? 0)"
        let kernelAddress = index.flatMap { LinuxKernel().address(of: AdapterIndex(wire: $0)) }
        adapter = BlueZBridge.Adapter(
            name: name,
            address: kernelAddress ?? Self.address(for: radio),
            alias: Self.hostName,
            administrators: [0, geteuid()]
        )
    }

    /// Returns a static random address: the FNV-1a hash of the name, with the two highest bits of the address set.
    private static func address(for name: String) -> DeviceAddress {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for octet in name.utf8 { hash = (hash ^ UInt64(octet)) &* 0x0000_0100_0000_01B3 }
        return DeviceAddress(hash | 0xC000_0000_0000, .random)
    }

    private static var hostName: String {
        var buffer = [CChar](repeating: 0, count: 65)
        guard gethostname(&buffer, buffer.count - 1) == 0 else { return "Linux" }
        let octets = buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
        return octets.isEmpty ? "Linux" : String(decoding: octets, as: UTF8.self)
    }
}
