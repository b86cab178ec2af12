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

    /// Where the entry of a configuration is or belongs.
    private func position(of configuration: AttributeHandle) -> Int {
        entries.indices.bisected { entries[$0].configuration < configuration }
    }

    private func isEntry(at index: Int, of configuration: AttributeHandle) -> Bool {
        index < entries.count && entries[index].configuration == configuration
    }

    /// The configurations that hold something, in ascending order.
    package var active: [AttributeHandle] { entries.map(\.configuration) }
}
