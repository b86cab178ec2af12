package import BLEWire

/// What one peer has written to the Client Characteristic Configurations of the own server.
///
/// Core 6.0, Vol 3, Part G, 3.3.3.3.
package struct ClientConfigurations: Sendable {
    private struct Entry: Sendable {
        let configuration: AttributeHandle
        var bits: UInt16
    }

    /// In ascending order of handles; none of them holds zero.
    private var entries: [Entry] = []

    package init() {}

    /// What the configuration with this handle holds, 0 unless the peer wrote something else.
    package subscript(configuration: AttributeHandle) -> UInt16 {
        get { entries.first { $0.configuration == configuration }?.bits ?? 0 }
        set {
            entries.removeAll { $0.configuration == configuration }
            guard newValue != 0 else { return }
            let index = entries.firstIndex { configuration < $0.configuration } ?? entries.endIndex
            entries.insert(Entry(configuration: configuration, bits: newValue), at: index)
        }
    }

    /// The configurations that hold something, in ascending order.
    package var active: [AttributeHandle] { entries.map(\.configuration) }
}
