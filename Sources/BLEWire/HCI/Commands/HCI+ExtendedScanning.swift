extension HCI {
    /// Sets the scan parameters for each PHY of the primary channels.
    ///
    /// Core 6.0, Vol 4, Part E, 7.8.64.
    package struct LESetExtendedScanParameters: HCICommand {
        package static var opcode: Opcode { .leSetExtendedScanParameters }
        package typealias Return = StatusReturn

        /// The scan parameters for one PHY.
        package struct Scan: Packet {
            package var type = ScanType.passive
            package var interval = ScanInterval.standard
            package var window = ScanInterval.standard

            package init() {}
            package init(type: ScanType, interval: ScanInterval, window: ScanInterval) {
                self.type = type
                self.interval = interval
                self.window = window
            }

            package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
                try wire.field(&type, "Scan Type")
                try wire.field(&interval, "Scan Interval")
                try wire.field(&window, "Scan Window")
            }
        }

        package var ownAddress = OwnAddress.public
        package var policy = ScanFilterPolicy.everyone
        /// The parameters for the 1M PHY; `nil` if the controller does not scan on it.
        package var le1M: Scan?
        /// The parameters for the Coded PHY; `nil` if the controller does not scan on it.
        package var leCoded: Scan?

        package init() {}
        package init(
            ownAddress: OwnAddress = .public,
            policy: ScanFilterPolicy = .everyone,
            le1M: Scan?,
            leCoded: Scan? = nil
        ) {
            self.ownAddress = ownAddress
            self.policy = policy
            self.le1M = le1M
            self.leCoded = leCoded
        }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.field(&ownAddress, "Own Address Type")
            try wire.field(&policy, "Scanning Filter Policy")
            var present = ScanningPHYs(le1M: le1M != nil, leCoded: leCoded != nil)
            try wire.field(&present, "Scanning PHYs")
            try wire.nested(&le1M, if: present.phys.contains(PHYSet.le1M))
            try wire.nested(&leCoded, if: present.phys.contains(PHYSet.leCoded))
        }
    }
}

/// The set of PHYs for which parameters follow.
///
/// 2M is not allowed, because the primary channels do not use it.
private struct ScanningPHYs: WireField, CustomStringConvertible {
    let phys: PHYSet

    init(le1M: Bool, leCoded: Bool) {
        var set: PHYSet = []
        if le1M { set.insert(.le1M) }
        if leCoded { set.insert(.leCoded) }
        phys = set
    }

    init?(wire: UInt8) {
        guard wire & ~0b101 == 0 else { return nil }
        phys = PHYSet(wire: wire)
    }

    var wire: UInt8 { phys.wire }
    var description: String { phys.description }
}
