extension HCI {
    /// Creates a connection to a peer, or to any device on the filter accept list, with parameters for each PHY.
    ///
    /// ``HCI/LEEnhancedConnectionComplete`` reports the result.
    ///
    /// Core 6.0, Vol 4, Part E, 7.8.66.
    package struct LEExtendedCreateConnection: HCICommand {
        package static var opcode: Opcode { .leExtendedCreateConnection }
        package typealias Return = NoReturn

        /// The scan timing on one PHY, and the parameters for a connection that is created on that PHY.
        package struct Initiation: Packet {
            package var interval = ScanInterval.standard
            package var window = ScanInterval.standard
            package var parameters = ConnectionParameters()

            package init() {}
            package init(interval: ScanInterval, window: ScanInterval, parameters: ConnectionParameters) {
                self.interval = interval
                self.window = window
                self.parameters = parameters
            }

            package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
                try wire.field(&interval, "Scan Interval")
                try wire.field(&window, "Scan Window")
                try wire.nested(&parameters)
            }
        }

        package var policy = InitiatorFilterPolicy.peer
        package var ownAddress = OwnAddress.public
        /// The peer to connect to; ignored when the filter accept list is used.
        package var peer = DeviceAddress.none
        /// The parameters for the 1M PHY; `nil` if the controller does not use it.
        package var le1M: Initiation?
        /// The connection parameters for the 2M PHY; `nil` if the controller does not use it.
        ///
        /// The scan timing is ignored, because the primary channels do not use this PHY.
        package var le2M: Initiation?
        /// The parameters for the Coded PHY; `nil` if the controller does not use it.
        package var leCoded: Initiation?

        package init() {}
        package init(
            policy: InitiatorFilterPolicy = .peer,
            ownAddress: OwnAddress = .public,
            peer: DeviceAddress,
            le1M: Initiation?,
            le2M: Initiation? = nil,
            leCoded: Initiation? = nil
        ) {
            self.policy = policy
            self.ownAddress = ownAddress
            self.peer = peer
            self.le1M = le1M
            self.le2M = le2M
            self.leCoded = leCoded
        }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.field(&policy, "Initiator Filter Policy")
            try wire.field(&ownAddress, "Own Address Type")
            try wire.typedAddress(&peer, kind: "Peer Address Type", "Peer Address")
            var present = InitiatingPHYs(le1M: le1M != nil, le2M: le2M != nil, leCoded: leCoded != nil)
            try wire.field(&present, "Initiating PHYs")
            try wire.nested(&le1M, if: present.phys.contains(PHYSet.le1M))
            try wire.nested(&le2M, if: present.phys.contains(PHYSet.le2M))
            try wire.nested(&leCoded, if: present.phys.contains(PHYSet.leCoded))
        }
    }
}

/// The set of PHYs for which parameters follow.
///
/// Unknown bits are an error, because they would make the length of the packet unknown.
private struct InitiatingPHYs: WireField, CustomStringConvertible {
    let phys: PHYSet

    init(le1M: Bool, le2M: Bool, leCoded: Bool) {
        var set: PHYSet = []
        if le1M { set.insert(.le1M) }
        if le2M { set.insert(.le2M) }
        if leCoded { set.insert(.leCoded) }
        phys = set
    }

    init?(wire: UInt8) {
        guard wire <= 0b111 else { return nil }
        phys = PHYSet(wire: wire)
    }

    var wire: UInt8 { phys.wire }
    var description: String { phys.description }
}

extension Wire where Self: ~Copyable & ~Escapable {
    /// Visits an optional part of a packet if `present` is true; otherwise sets the part to `nil`.
    ///
    /// `present` comes from another field of the packet.
    @_lifetime(self: copy self)
    mutating func nested<P: Packet>(_ packet: inout P?, if present: Bool) throws(PacketError) {
        guard present else {
            packet = nil
            return
        }
        var copy = packet ?? P()
        try copy.layout(&self)
        packet = copy
    }
}
