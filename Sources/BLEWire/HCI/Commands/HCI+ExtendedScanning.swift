extension HCI {
    /// Says how to scan on each PHY of the primary channels.
    ///
    /// Core 6.0, Vol 4, Part E, 7.8.64.
    package struct LESetExtendedScanParameters: HCICommand {
        package static var opcode: Opcode { .leSetExtendedScanParameters }
        package typealias Return = StatusReturn

        /// How to scan on one PHY.
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
        /// How to scan on the 1M PHY, or `nil` not to.
        package var le1M: Scan?
        /// How to scan on the Coded PHY, or `nil` not to.
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

/// A set of PHYs for each of which parameters follow; nobody advertises on the 2M PHY first.
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
