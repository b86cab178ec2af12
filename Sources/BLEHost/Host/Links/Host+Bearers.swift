import BLEWire

extension Host {
    /// Returns how long this host waits before it repeats a refused request for bearers.
    ///
    /// A central does not wait. The peripheral's delay prevents another collision, because both ends may have sent
    /// their requests at the same time.
    ///
    /// Core 6.0, Vol 3, Part G, 5.4.
    func bearerRetryDelay(on handle: ConnectionHandle) -> Duration {
        guard let link = links[handle], link.role == .peripheral else { return .zero }
        let interval = link.details.interval?.duration ?? .zero, latency = Int(link.details.latency?.wire ?? 0)
        return max(.milliseconds(100), interval * (2 * (latency + 1)))
    }
}
