import BLEWire

/// The addresses of a connection, as the controller of one end reports them to its host.
struct ConnectionAddresses: Equatable, Sendable {
    /// The peer's address; its kind shows whether the controller resolved it.
    let peer: DeviceAddress
    /// The private address that the controller generated for this end; zero if there is none.
    let localPrivate: DeviceAddress
    /// The peer's private address that the controller resolved; zero if there is none.
    let peerPrivate: DeviceAddress
}

extension Air {
    /// Reports to a host that a connection has been created.
    mutating func sendConnection(
        _ end: LinkEnd,
        _ role: Role,
        _ names: ConnectionAddresses,
        link: Link,
        at instant: Instant
    ) {
        let controller = end.controller, timing = link.timing
        let accuracy = ClockAccuracy(wire: role == .central ? 0 : 5)
        let hostRole: HCI.Role = role == .central ? .central : .peripheral
        if controllers[controller].masks.allow(.enhancedConnectionComplete) {
            let event = HCI.LEEnhancedConnectionComplete(
                status: .success,
                handle: end.handle,
                role: hostRole,
                peer: names.peer,
                localPrivateAddress: names.localPrivate,
                peerPrivateAddress: names.peerPrivate,
                interval: .init(wire: timing.interval),
                latency: .init(wire: timing.latency),
                timeout: .init(wire: timing.timeout),
                clockAccuracy: accuracy
            )
            emit(.leEnhancedConnectionComplete(event), to: controller, at: instant)
        } else {
            let event = HCI.LEConnectionComplete(
                status: .success,
                handle: end.handle,
                role: hostRole,
                peer: names.peer.onAir,
                interval: .init(wire: timing.interval),
                latency: .init(wire: timing.latency),
                timeout: .init(wire: timing.timeout),
                clockAccuracy: accuracy
            )
            emit(.leConnectionComplete(event), to: controller, at: instant)
        }
        guard end.profile.features.contains(.channelSelectionAlgorithm2) else { return }
        let algorithm: UInt8 = if case .algorithm2 = link.selection { 1 } else { 0 }
        emit(
            .leChannelSelectionAlgorithm(.init(handle: end.handle, algorithm: algorithm)),
            to: controller,
            at: instant
        )
    }

    /// Reports to a host that a connection could not be created.
    mutating func sendConnectionFailure(
        _ status: HCI.Status,
        peer: DeviceAddress,
        _ role: HCI.Role,
        _ controller: Int,
        at instant: Instant
    ) {
        if controllers[controller].masks.allow(.enhancedConnectionComplete) {
            var event = HCI.LEEnhancedConnectionComplete()
            (event.status, event.peer, event.role) = (status, peer, role)
            emit(.leEnhancedConnectionComplete(event), to: controller, at: instant)
        } else {
            var event = HCI.LEConnectionComplete()
            (event.status, event.peer, event.role) = (status, peer, role)
            emit(.leConnectionComplete(event), to: controller, at: instant)
        }
    }

    mutating func sendDisconnection(_ end: LinkEnd, reason: UInt8, at instant: Instant) {
        let event = HCI.DisconnectionComplete(
            status: .success,
            handle: end.handle,
            reason: HCI.Status(wire: reason)
        )
        emit(.disconnectionComplete(event), to: end.controller, at: instant)
    }

    /// Reports to a host that the peer has acknowledged one of the host's fragments, so that the host may send another
    /// one.
    mutating func sendCompleted(_ handle: ConnectionHandle, to controller: Int, at instant: Instant) {
        guard decideToSend(.numberOfCompletedPackets, controller) else { return }
        let packet = HCI.NumberOfCompletedPackets.packet(.init(handle: handle, count: 1))
        outbox.add(.hci(packet, to: ControllerID(rawValue: controller)), at: instant, now: now)
    }

    /// Passes a received fragment of an L2CAP packet to a host.
    ///
    /// `isStart` is true for the first fragment of the packet.
    mutating func send(
        _ octets: ArraySlice<UInt8>,
        isStart: Bool,
        on handle: ConnectionHandle,
        to controller: Int,
        at instant: Instant
    ) {
        guard !controllers[controller].faults.isMute else { return }
        let flags: UInt16 = (isStart ? ACLHeader.Boundary.firstFromController : .continuing).rawValue << 12
        let field = handle.wire | flags
        var packet: [UInt8] = []
        packet.reserveCapacity(5 + octets.count)
        packet.append(HCI.PacketType.acl.wire)
        packet.append(UInt8(truncatingIfNeeded: field))
        packet.append(UInt8(truncatingIfNeeded: field >> 8))
        packet.append(UInt8(truncatingIfNeeded: octets.count))
        packet.append(UInt8(truncatingIfNeeded: octets.count >> 8))
        packet.append(contentsOf: octets)
        outbox.add(.hci(packet, to: ControllerID(rawValue: controller)), at: instant, now: now)
    }

    mutating func sendVersion(_ end: LinkEnd, status: UInt8, at instant: Instant) {
        let version = end.control.remoteVersion ?? LL.VersionIndication()
        let event = HCI.ReadRemoteVersionInformationComplete(
            status: HCI.Status(wire: status),
            handle: end.handle,
            version: HCI.CoreVersion(wire: version.version),
            company: version.company,
            subversion: version.subversion
        )
        emit(.readRemoteVersionInformationComplete(event), to: end.controller, at: instant)
    }

    mutating func sendFeatures(_ end: LinkEnd, status: UInt8, at instant: Instant) {
        let event = HCI.LEReadRemoteFeaturesComplete(
            status: HCI.Status(wire: status),
            handle: end.handle,
            features: LEFeatures(rawValue: end.control.remoteFeatures ?? 0)
        )
        emit(.leReadRemoteFeaturesComplete(event), to: end.controller, at: instant)
    }

    mutating func sendLengths(_ end: LinkEnd, at instant: Instant) {
        let lengths = end.lengths.effective
        let event = HCI.LEDataLengthChange(
            handle: end.handle,
            transmitOctets: lengths.transmitOctets,
            transmitTime: lengths.transmitTime,
            receiveOctets: lengths.receiveOctets,
            receiveTime: lengths.receiveTime
        )
        emit(.leDataLengthChange(event), to: end.controller, at: instant)
    }

    mutating func sendPHYUpdate(_ index: Int, _ role: Role, status: UInt8, at instant: Instant) {
        let end = links[index][role], phys = links[index].phys(of: role)
        let event = HCI.LEPHYUpdateComplete(
            status: HCI.Status(wire: status),
            handle: end.handle,
            transmit: phys.transmit,
            receive: phys.receive
        )
        emit(.lePHYUpdateComplete(event), to: end.controller, at: instant)
    }

    mutating func sendTiming(_ index: Int, _ role: Role, status: UInt8, at instant: Instant) {
        let end = links[index][role], timing = links[index].timing
        let event = HCI.LEConnectionUpdateComplete(
            status: HCI.Status(wire: status),
            handle: end.handle,
            interval: .init(wire: timing.interval),
            latency: .init(wire: timing.latency),
            timeout: .init(wire: timing.timeout)
        )
        emit(.leConnectionUpdateComplete(event), to: end.controller, at: instant)
    }

    /// Asks a host whether it accepts the timing that the peer requests.
    ///
    /// - Returns: False if the host's event mask suppresses the question, so that the host cannot answer.
    mutating func sendParameterRequest(
        _ end: LinkEnd,
        _ parameters: LL.ConnectionParameters,
        at instant: Instant
    ) -> Bool {
        guard controllers[end.controller].masks.allow(.remoteConnectionParameterRequest) else { return false }
        let event = HCI.LERemoteConnectionParameterRequest(
            handle: end.handle,
            minimum: .init(wire: parameters.intervalMinimum),
            maximum: .init(wire: parameters.intervalMaximum),
            latency: .init(wire: parameters.latency),
            timeout: .init(wire: parameters.timeout)
        )
        emit(.leRemoteConnectionParameterRequest(event), to: end.controller, at: instant)
        return true
    }
}
