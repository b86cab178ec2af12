extension HostSpecification {
    /// A new way to the controller that is meant; `nil` if a simulated world is, or a daemon that has the controller.
    package var transport: (any Transport)? {
        switch self {
        case .adapter(let reference): PortTransport(UserChannelPort(reference))
        case .serial(let address): PortTransport(SerialPort(address))
        case .socket(let address): SocketTransport(to: address)
        case .world, .demo, .daemon: nil
        }
    }
}
