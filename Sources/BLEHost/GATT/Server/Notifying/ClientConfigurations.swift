package import BLEWire

/// A peer's values of the local server's Client Characteristic Configurations.
///
/// Core 6.0, Vol 3, Part G, 3.3.3.3.
package struct ClientConfigurations: Sendable {
    private struct Entry: Sendable {
        let configuration: AttributeHandle
        var bits: UInt16
    }

    /// The values other than 0, in ascending order of handles.
    private var entries: [Entry] = []

    package init() {}

    /// The value of the configuration with this handle; 0 if the peer has not written it.
    package subscript(configuration: AttributeHandle) -> UInt16 {
        get {
            let index = position(of: configuration)
            return isEntry(at: index, of: configuration) ? entries[index].bits : 0
        }
        set {
            let index = position(of: configuration)
            if isEntry(at: index, of: configuration) { entries.remove(at: index) }
            if newValue != 0 { entries.insert(Entry(configuration: configuration, bits: newValue), at: index) }
        }
    }

    /// Returns the index of the entry for a configuration, or the index at which to insert it.
    private func position(of configuration: AttributeHandle) -> Int {
        entries.indices.bisected { entries[$0].configuration < configuration }
    }

    private func isEntry(at index: Int, of configuration: AttributeHandle) -> Bool {
        index < entries.count && entries[index].configuration == configuration
    }

    /// The handles of the configurations with values other than 0, in ascending order.
    package var active: [AttributeHandle] { entries.map(\.configuration) }
}
