import BLECrypto
import BLEWire

// Privacy: the private addresses of this host, and those of bonded peers.
extension Host {
    /// Returns whether the radio must pause, so that the host can change its address or the resolving list.
    mutating func needsPause(at now: Instant) -> Bool {
        guard let privacy else { return false }
        if privacy.capacity > 0, privacy.revision != peers.keyRevision {
            self.privacy?.setResolvablePeers(
                peers.resolvablePeers(limit: privacy.capacity),
                revision: peers.keyRevision
            )
        }
        return self.privacy?.needsPause(at: now) ?? false
    }

    /// Returns whether this host has an address of this kind, or will get one before it next uses the radio.
    func canUseAddress(_ kind: OwnAddressKind?, on controller: ControllerDescription) -> Bool {
        let isComing = privacy != nil && (kind == .random || kind == .resolvable)
        return isComing || controller.commonAddress(kind) != nil
    }

    /// Sends the next command that changes the private address or the resolving list, if the radio has paused.
    mutating func updatePrivacy(_ controller: ControllerDescription, at now: Instant) {
        guard scanner.isOff, !initiator.isActive, advertiser.isOff, testerSets.areOff,
            let step = privacy?.step(at: now)
        else { return }
        submit(controller.command(step, localKey: privacy?.key ?? .zero), for: .privacy, at: now)
    }

    /// Processes the controller's answer to a command about private addresses or the resolving list.
    mutating func privacyAnswered(_ status: HCI.Status, at now: Instant) {
        guard case .ready(var controller) = phase, let outcome = privacy?.answered(status, at: now) else { return }
        controller.privateAddress = privacy?.address
        controller.resolvesAddresses = privacy?.isResolving ?? false
        describe(controller)
        switch outcome {
        case .proceed, .addressChanged: break
        case .resolvablePeersChanged:
            for clientConnection in clientConnections.all { updateConnectionAddress(of: clientConnection.peer) }
        }
    }

    /// Returns the address to connect to: the peer's address on the controller's resolving list if the controller
    /// resolves it, otherwise the last known address; `nil` if no address is known.
    ///
    /// `isPrivate` is true if the peer may have changed its address; the host must then receive one of the peer's
    /// advertisements before it can connect.
    mutating func connectionAddress(of peer: PeerIdentifier) -> (address: DeviceAddress, isPrivate: Bool)? {
        guard let address = peers.address(of: peer) else { return nil }
        guard let bond = peers.bond(with: peer), bond.resolvingKey != nil else { return (address, false) }
        guard let resolvablePeer = peers.resolvablePeer(peer),
            privacy?.resolvesAddresses(of: resolvablePeer.identity) ?? false
        else {
            return (address, true)
        }
        return (resolvablePeer.identity, false)
    }

    /// Returns this host's identity for pairing.
    func identity(on controller: ControllerDescription) -> SecurityManager.Identity {
        .init(address: controller.address, resolvingKey: privacy?.key)
    }
}

extension ControllerDescription {
    func command(_ step: LocalPrivacy.Step, localKey: Key128) -> HCICommandPacket {
        switch step {
        case .address(let address): .leSetRandomAddress(.init(address: address))
        case .lifetime(let timeout): .leSetResolvablePrivateAddressTimeout(.init(timeout: timeout))
        case .add(let resolvablePeer):
            .leAddDeviceToResolvingList(
                .init(identity: resolvablePeer.identity, peerKey: resolvablePeer.key, localKey: localKey)
            )
        case .remove(let resolvablePeer): .leRemoveDeviceFromResolvingList(.init(identity: resolvablePeer.identity))
        case .setDevicePrivacyMode(let identity): .leSetPrivacyMode(.init(identity: identity, mode: .device))
        case .resolve: .leSetAddressResolutionEnable(.init(enable: true))
        }
    }
}
