import BLEWire

// The timeouts of an end that does not receive the packets for which it waits.
extension Link {
    /// Returns an end that has timed out by `now`, and the reason; `nil` if neither end has.
    @inline(__always)
    func expired(by now: Instant) -> (role: Role, status: LinkStatus)? {
        for role in Role.both where self[role].isPresent {
            let (instant, status) = expiry(of: role)
            if instant <= now { return (role, status) }
        }
        return nil
    }

    /// Returns the time at which an end times out if it receives no more packets, and the reason.
    @inline(__always)
    func expiry(of role: Role) -> (instant: Instant, status: LinkStatus) {
        if !self[role].isEstablished {
            // Core 6.0, Vol 6, Part B, 4.5.2: six intervals without a packet.
            return (created + 6 * timing.intervalNanoseconds, .failedToBeEstablished)
        }
        var result = (self[role].lastReceived + timing.timeoutNanoseconds, LinkStatus.connectionTimeout)
        if let deadline = self[role].responseDeadline, deadline < result.0 { result = (deadline, .responseTimeout) }
        if let termination = self[role].control.termination, termination.deadline < result.0 {
            result = (termination.deadline, .terminatedByLocalHost)
        }
        return result
    }
}
