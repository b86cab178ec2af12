import BLEWire

/// The controller's report about a new link.
struct NewLink {
    let handle: ConnectionHandle
    let role: LinkRole
    var details: LinkDetails
    /// The private address that the controller generated for this host; `nil` if there is none.
    let localPrivateAddress: DeviceAddress?
    /// The peer's private address that the controller resolved; `nil` if there is none.
    let peerPrivateAddress: DeviceAddress?

    /// The over-the-air address of the peer, which pairing uses.
    var peerOnAir: DeviceAddress { peerPrivateAddress ?? details.address.onAir }
}

extension HCI.LEConnectionComplete {
    /// The new link that the event reports.
    var link: NewLink {
        NewLink(
            handle: handle,
            role: role == .central ? .central : .peripheral,
            details: LinkDetails(peer, interval, latency, timeout),
            localPrivateAddress: nil,
            peerPrivateAddress: nil
        )
    }
}

extension HCI.LEEnhancedConnectionComplete {
    /// The new link that the event reports.
    var link: NewLink {
        NewLink(
            handle: handle,
            role: role == .central ? .central : .peripheral,
            details: LinkDetails(peer, interval, latency, timeout),
            localPrivateAddress: localPrivateAddress.ifNonzero,
            peerPrivateAddress: peerPrivateAddress.ifNonzero
        )
    }
}

extension DeviceAddress {
    /// This address; `nil` if the address is zero.
    fileprivate var ifNonzero: Self? { value == 0 ? nil : self }
}

extension LinkDetails {
    fileprivate init(
        _ address: DeviceAddress,
        _ interval: Reported<ConnectionInterval>,
        _ latency: Reported<PeripheralLatency>,
        _ timeout: Reported<SupervisionTimeout>
    ) {
        self.init(address: address)
        set(interval, latency, timeout)
    }
}
