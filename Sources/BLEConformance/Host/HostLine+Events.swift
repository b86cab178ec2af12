import BLEHost
import BLEWire

// The host's events in the form that test suites read.

extension DeviceAddress {
    /// The JSON keys and values for this address: its six octets, least significant octet first, and its type.
    var values: [String: HostLine.Value] {
        let octets = (0..<6).map { UInt8(truncatingIfNeeded: value >> UInt64(8 * $0)) }
        return ["address": .text(octets.hexadecimal), "address_type": .number(Int(onAir.kind.wire))]
    }
}

extension RadioLink {
    var line: HostLine {
        let values: [String: HostLine.Value] = [
            "connection": .number(Int(handle.wire)), "role": .text(role == .central ? "central" : "peripheral"),
        ]
        return .event("connected", values.merging(address.values) { $1 })
    }
}

extension ReceivedPacket {
    var line: HostLine {
        let values: [String: HostLine.Value] = [
            "legacy": .flag(packet.isLegacy),
            "connectable": .flag(isConnectable),
            "scannable": .flag(packet.isScannable),
            "scan_response": .flag(isScanResponse),
            "directed": .flag(packet.isDirected),
            "rssi": .number(rssi.dBm.map { Int($0) } ?? 127),
            "tx_power": .number(packet.transmitPower.dBm.map { Int($0) } ?? 127),
            "sid": .number(Int(packet.set.wire)),
            "primary_phy": packet.primaryPHY.name.map { .text($0) } ?? .none,
            "secondary_phy": packet.secondaryPHY.name.map { .text($0) } ?? .none,
            "data": .text(data.hexadecimal),
            "truncated": .flag(packet.isTruncated),
        ]
        return .event("report", values.merging(address.values) { $1 })
    }
}

extension PairingQuestion {
    /// Returns the line that asks the test suite this question about the pairing on a link.
    func line(on link: ConnectionHandle) -> HostLine {
        var values: [String: HostLine.Value] = ["connection": .number(Int(link.wire))]
        let method: String
        switch self {
        case .consent: method = "just_works"
        case .compare(let number):
            method = "numeric_comparison"
            values["value"] = .number(Int(number))
        case .display(let passkey):
            method = "passkey_display"
            values["value"] = .number(Int(passkey))
        case .enterPasskey: method = "passkey_entry"
        }
        values["method"] = .text(method)
        return .event("pairing", values)
    }
}
