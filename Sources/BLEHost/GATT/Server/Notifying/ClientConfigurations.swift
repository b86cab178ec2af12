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

    /// The value of the Client Characteristic Configuration with this handle; 0 if the peer has not written it.
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

    /// The handles of the Client Characteristic Configurations with values other than 0, in ascending order.
    package var active: [AttributeHandle] { entries.map(\.configuration) }
}

/// The links whose peers are subscribed to each local characteristic.
struct Subscribers {
    private struct Entry {
        let configuration: AttributeHandle
        let link: ConnectionHandle
    }

    /// The entries, sorted by configuration handle, then by link.
    private var entries: [Entry] = []

    /// Records whether the peer of a link is subscribed (`isWanted`) to the characteristic whose Client Characteristic
    /// Configuration has the handle `configuration`.
    mutating func set(_ isWanted: Bool, _ configuration: AttributeHandle, on link: ConnectionHandle) {
        var index = first(of: configuration)
        while let other = self.link(at: index, of: configuration), other < link { index += 1 }
        let isThere = self.link(at: index, of: configuration) == link
        if isThere, !isWanted { entries.remove(at: index) }
        if !isThere, isWanted { entries.insert(Entry(configuration: configuration, link: link), at: index) }
    }

    /// Returns the index of the first entry for a Client Characteristic Configuration, to be passed to
    /// ``link(at:of:)``.
    func first(of configuration: AttributeHandle) -> Int {
        entries.indices.bisected { entries[$0].configuration.wire < configuration.wire }
    }

    /// Returns the link of the entry at `index`; `nil` if there is no such entry for `configuration`.
    @inline(__always)
    func link(at index: Int, of configuration: AttributeHandle) -> ConnectionHandle? {
        guard index < entries.count, entries[index].configuration.wire == configuration.wire else { return nil }
        return entries[index].link
    }
}
