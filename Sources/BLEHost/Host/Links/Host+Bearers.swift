import BLEWire

extension Host {
    /// How long this end of a link waits before it asks again for bearers that it was refused: the ends may have asked
    /// each other at once.
    ///
    /// Core 6.0, Vol 3, Part G, 5.4.
    func bearerRetryDelay(on handle: ConnectionHandle) -> Duration {
        guard let link = links[handle], link.role == .peripheral else { return .zero }
        let interval = link.details.interval?.duration ?? .zero, latency = Int(link.details.latency?.wire ?? 0)
        return max(.milliseconds(100), interval * (2 * (latency + 1)))
    }
}
