import BLEWire

extension Air {
    /// Returns the address that a controller uses in scan requests and connection requests to `peer`; `nil` if it has
    /// none.
    ///
    /// `kind` is the HCI own address type.
    mutating func ownAddress(_ controller: Int, _ kind: UInt8, to peer: DeviceAddress) -> OwnAddress? {
        let identity = controllers[controller].identityAddress(kind)
        return ownAddress(controller, kind, to: peer, identity: identity)
    }

    /// Returns the address that a controller uses with `peer`; `nil` if it has none.
    ///
    /// The parameters are those of ``VirtualController/ownAddress(_:to:identity:at:)``.
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

    /// Returns the addresses for the packets of an advertising set; `nil` if the controller has no address for the set.
    ///
    /// `own` is the address of the advertiser; `target` is `nil` if the set is not directed.
    mutating func addresses(_ controller: Int, _ set: AdvertisingSet) -> (own: OwnAddress, target: DeviceAddress?)? {
        let identity = controllers[controller].identityAddress(of: set)
        guard let own = ownAddress(controller, set.ownAddressKind, to: set.peer, identity: identity) else { return nil }
        guard set.properties.contains(.directed) else { return (own, nil) }
        let target = controllers[controller].targetAddress(set.peer, at: now)
        scheduleRotation(controller)
        return (own, target)
    }

    /// Schedules the next replacement of a controller's private addresses.
    ///
    /// If an entry for an earlier time is already scheduled, nothing is added: that entry schedules the next one when
    /// it runs. An entry for a later time is replaced. So the schedule does not grow when a host often changes the
    /// timeout.
    mutating func scheduleRotation(_ controller: Int) {
        guard let deadline = controllers[controller].resolvingList.deadline else { return }
        if let rotation = controllers[controller].rotation {
            if rotation.instant <= deadline { return }
            schedule.remove(rotation.token)
        }
        let instant = max(deadline, now)
        let token = schedule.add(.rotation(controller: controller), at: instant)
        controllers[controller].rotation = (instant, token)
    }

    /// Replaces a controller's private addresses if they have expired, and schedules the next replacement.
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
