import BLEWire

/// What the controller tells of a link that has just been made.
struct NewLink {
    let handle: ConnectionHandle
    let role: LinkRole
    var details: LinkDetails
    /// The private address that the controller made for this host; `nil` if it made none.
    let localPrivateAddress: DeviceAddress?
    /// The private address under which the peer was reached; `nil` if the controller resolved none.
    let peerPrivateAddress: DeviceAddress?

    /// The address that the peer had on the air, with which pairing counts.
    var peerOnAir: DeviceAddress { peerPrivateAddress ?? details.address.onAir }
}

extension HCI.LEConnectionComplete {
    /// What the event tells of the link.
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
    /// What the event tells of the link.
    var link: NewLink {
        NewLink(
            handle: handle,
            role: role == .central ? .central : .peripheral,
            details: LinkDetails(peer, interval, latency, timeout),
            localPrivateAddress: localPrivateAddress.ifMade,
            peerPrivateAddress: peerPrivateAddress.ifMade
        )
    }
}

extension DeviceAddress {
    /// The address, unless it stands for none.
    fileprivate var ifMade: Self? { value == 0 ? nil : self }
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
