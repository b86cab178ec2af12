import BLEWire

extension Host {
    /// Returns the time before this end repeats a refused request for bearers, because both ends may have sent their
    /// request at the same time.
    ///
    /// Core 6.0, Vol 3, Part G, 5.4.
    func bearerRetryDelay(on handle: ConnectionHandle) -> Duration {
        guard let link = links[handle], link.role == .peripheral else { return .zero }
        let interval = link.details.interval?.duration ?? .zero, latency = Int(link.details.latency?.wire ?? 0)
        return max(.milliseconds(100), interval * (2 * (latency + 1)))
    }
}
