package import BLEWire

/// The properties of an adapter that this program is not using.
package struct Adapter: Equatable, Sendable {
    /// The availability of an adapter.
    package enum State: String, Sendable {
        /// Not in use.
        case off
        /// Switched on and in use by the kernel's own host, which BlueZ manages.
        case powered
        /// In exclusive use by another program, or still being set up by the kernel.
        case taken
        /// Needs configuration before it can be used.
        case unconfigured
    }

    package let index: AdapterIndex
    package let state: State
    package let address: DeviceAddress?
    /// The bus that connects the adapter, such as USB; `nil` if the kernel does not report it, for example because a
    /// program has taken the adapter.
    package let bus: Management.Bus?
    /// The kernel's information about the adapter; `nil` if the adapter is taken or not configured.
    package let information: Management.Information?
    /// The block on the adapter's radio; `nil` if the radio is not blocked.
    package let block: RadioSwitch.Block?
    /// The programs that may be using the adapter; empty if there are none, or if the kernel hides them from this
    /// program.
    package let holders: [AdapterHolder]

    /// Returns all adapters, lowest number first.
    ///
    /// - Throws: An error if the kernel does not list its adapters.
    package static func all(in kernel: some AdapterKernel) throws(TransportError) -> [Self] {
        let client = ManagementClient(try kernel.management())
        let entries: [Management.ControllerEntry]
        do {
            entries = try client.controllers()
        } catch {
            throw .unlisted(error)
        }
        let known = entries.map(\.index)
        let all = known + kernel.indexes.filter { !known.contains($0) }
        let holders = kernel.holders
        return all.sorted().map { index in
            Self(index, entries.first { $0.index == index }, client, kernel, holders)
        }
    }

    private init(
        _ index: AdapterIndex,
        _ entry: Management.ControllerEntry?,
        _ client: ManagementClient,
        _ kernel: some AdapterKernel,
        _ holders: [AdapterHolder]
    ) {
        self.index = index
        bus = entry?.bus
        block = kernel.block(of: index)
        information = entry.flatMap { $0.kind == .configured ? try? client.information(about: index) : nil }
        address = information?.address ?? kernel.address(of: index)
        if let entry, entry.kind == .unconfigured {
            state = .unconfigured
        } else if let information {
            state = information.current.contains(.powered) ? .powered : .off
        } else {
            state = .taken
        }
        switch state {
        case .powered: self.holders = holders.filter(\.isBlueZ)
        case .taken: self.holders = holders.filter { !$0.isBlueZ }
        case .off, .unconfigured: self.holders = []
        }
    }

    /// Returns the errors that keep `program` from using this adapter, in the order in which the user must fix them.
    ///
    /// `isPrivileged` is true if the program has CAP_NET_ADMIN. If `isNamed` is true, BlueZ's use of the adapter does
    /// not count, because a user who names an adapter allows the program to take it from BlueZ.
    package func objections(to program: String, isPrivileged: Bool, isNamed: Bool = false) -> [TransportError] {
        var objections: [TransportError] = []
        if information.map({ !$0.supported.contains(.lowEnergy) }) == true {
            objections.append(.withoutLowEnergy(index))
        }
        if let block { objections.append(.silenced(index, block)) }
        switch state {
        case .off: break
        case .unconfigured: objections.append(.unconfigured(index))
        case .taken: objections.append(.held(index, errno: 0, by: holders))
        case .powered: if !isNamed { objections.append(.powered(index, by: holders)) }
        }
        if !isPrivileged { objections.append(.forbidden(index, program: program)) }
        return objections
    }
}

extension AdapterReference {
    /// Returns the first adapter that is free and that this program may use.
    ///
    /// - Throws: The first reason why the first adapter cannot be used; ``TransportError/noAdapter`` if the machine has
    ///   no adapter; another error if the kernel does not list its adapters.
    package static func firstUsable(in kernel: some AdapterKernel) throws(TransportError) -> Self {
        try firstUsable(among: Adapter.all(in: kernel), for: kernel.program, isPrivileged: kernel.isPrivileged)
    }

    /// Returns the first of `adapters` that is free and that `program` may use.
    ///
    /// - Throws: The first reason why the first adapter cannot be used; ``TransportError/noAdapter`` if `adapters` is
    ///   empty.
    static func firstUsable(
        among adapters: [Adapter],
        for program: String,
        isPrivileged: Bool
    ) throws(TransportError) -> Self {
        var first: TransportError?
        for adapter in adapters {
            guard let objection = adapter.objections(to: program, isPrivileged: isPrivileged).first else {
                return .index(adapter.index)
            }
            first = first ?? objection
        }
        throw first ?? .noAdapter
    }
}

/// The number or address by which a user names an adapter of the machine, or `first` for any usable adapter.
package enum AdapterReference: Hashable, Sendable, CustomStringConvertible {
    /// The adapter's current number. The kernel assigns numbers in the order in which adapters appear.
    case index(AdapterIndex)
    /// The adapter's address, which does not change when its number does.
    case address(DeviceAddress)
    /// The first adapter that is usable when its port is opened, which may be a different one each time.
    ///
    /// See ``firstUsable(in:)``. An adapter that BlueZ uses is never chosen.
    case first

    /// Parses a number, a name such as `hci0`, an address or `first`; returns `nil` for anything else.
    package init?(_ text: String) {
        if text == "first" {
            self = .first
        } else if let index = AdapterIndex(name: text) ?? AdapterIndex(name: "hci" + text) {
            self = .index(index)
        } else if let address = DeviceAddress(text, .public), address != .none {
            self = .address(address)
        } else {
            return nil
        }
    }

    package var description: String {
        switch self {
        case .index(let index): "hci:\(index.wire)"
        case .address(let address): "hci:\(address)"
        case .first: "hci:first"
        }
    }
}
