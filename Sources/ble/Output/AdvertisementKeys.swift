import CoreBluetoothExtras
import Foundation

extension Advertisement {
    /// The type of the Flags structure (Assigned Numbers, 2.3).
    private static let flagsType: UInt8 = 0x01

    /// The JSON keys that describe the packets of an advertisement.
    var keys: [String: Any] {
        var fields: [String: Any] = [
            "legacy": isLegacy, "scannable": isScannable, "advertisement": data.hexadecimal,
        ]
        if !scanResponse.isEmpty { fields["scan_response"] = scanResponse.hexadecimal }
        fields["primary_phy"] = primaryPhysicalLayer?.rawValue
        fields["secondary_phy"] = secondaryPhysicalLayer?.rawValue
        fields["tx_power"] = transmitPower
        fields["flags"] = structures.first { $0.type == Self.flagsType }?.data.first.map { Int($0) }
        guard !address.isHidden else { return fields }
        fields["address"] = "\(address)"
        fields["address_type"] = address.kind.rawValue
        fields["identity"] = address.kind == .public || address.kind == .static
        return fields
    }
}

extension BluetoothAddress {
    /// True if the address is all zeros, because the daemon's policy hides addresses from this process.
    var isHidden: Bool { octets.allSatisfy { $0 == 0 } }
}
