package import BLEWire

/// A peer's values of the Client Characteristic Configurations of the local server.
///
/// Core 6.0, Vol 3, Part G, 3.3.3.3.
package struct ClientConfigurations: Sendable {
    private struct Entry: Sendable {
        let configuration: AttributeHandle
        var bits: UInt16
    }

    /// In ascending order of handles, without zeros.
    private var entries: [Entry] = []

    package init() {}

    /// The value of the configuration with this handle; 0 unless the peer wrote another one.
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

    /// Returns the index of the entry for a configuration, or the index to insert it.
    private func position(of configuration: AttributeHandle) -> Int {
        entries.indices.bisected { entries[$0].configuration < configuration }
    }

    private func isEntry(at index: Int, of configuration: AttributeHandle) -> Bool {
        index < entries.count && entries[index].configuration == configuration
    }

    /// The configurations that are not zero, in ascending order.
    package var active: [AttributeHandle] { entries.map(\.configuration) }
}
