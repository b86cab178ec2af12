extension HostSpecification {
    /// A new transport to the controller; `nil` for hosts that need none: a simulated world or a daemon.
    package var transport: (any Transport)? {
        switch self {
        case .adapter(let reference): PortTransport(UserChannelPort(reference))
        case .serial(let address): PortTransport(SerialPort(address))
        case .socket(let address): SocketTransport(to: address)
        case .world, .demo, .daemon: nil
        }
    }
}
