import BLEWire

extension Air {
    /// The address of a board that scans or initiates towards `peer`.
    mutating func ownAddress(_ controller: Int, _ kind: UInt8, to peer: DeviceAddress) -> OwnAddress? {
        let identity = controllers[controller].identityAddress(kind)
        return ownAddress(controller, kind, to: peer, identity: identity)
    }

    /// The address of a board towards `peer`, as ``VirtualController/ownAddress(_:to:identity:at:)``.
    private mutating func ownAddress(
        _ controller: Int,
        _ kind: UInt8,
        to peer: DeviceAddress,
        identity: DeviceAddress?
    ) -> OwnAddress? {
        let address = controllers[controller].ownAddress(kind, to: peer, identity: identity, at: now)
        if kind & 2 != 0 { scheduleRotation(controller) }
        return address
    }

    /// The addresses in the packets of an advertising set; `nil` if it has none of its own.
    mutating func addresses(_ controller: Int, _ set: AdvertisingSet) -> (own: OwnAddress, target: DeviceAddress?)? {
        let identity = controllers[controller].identityAddress(of: set)
        guard let own = ownAddress(controller, set.ownAddressKind, to: set.peer, identity: identity) else { return nil }
        guard set.properties.contains(.directed) else { return (own, nil) }
        let target = controllers[controller].targetAddress(set.peer, at: now)
        scheduleRotation(controller)
        return (own, target)
    }

    /// Sees to it that the private addresses of a controller are replaced in time.
    ///
    /// An entry of the schedule that comes too early stays, and is followed by another, so that the schedule does not
    /// grow however often a host changes the timeout.
    mutating func scheduleRotation(_ controller: Int) {
        guard let deadline = controllers[controller].resolvingList.deadline else { return }
        if let rotation = controllers[controller].rotation, rotation.instant <= deadline { return }
        let instant = max(deadline, now)
        let token = schedule.add(.rotation(controller: controller), at: instant)
        controllers[controller].rotation = (instant, token)
    }

    /// Replaces the private addresses of a controller.
    mutating func runRotation(_ controller: Int, at now: Instant) {
        controllers[controller].rotation = nil
        controllers[controller].replaceAddresses(at: now)
        scheduleRotation(controller)
    }
}

extension VirtualController {
    fileprivate mutating func replaceAddresses(at now: Instant) {
        _ = resolvingList.expire(at: now, using: &random)
    }
}
