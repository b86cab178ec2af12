package import BLEWire

/// What is known of an adapter of the machine without using it.
package struct Adapter: Equatable, Sendable {
    /// Who uses an adapter, if anybody does.
    package enum State: String, Sendable {
        /// Nobody.
        case off
        /// The kernel's own host, which is BlueZ's.
        case powered
        /// A program, which has it for itself, or it is still being set up.
        case taken
        /// Nobody can before it has been configured.
        case unconfigured
    }

    package let index: AdapterIndex
    package let state: State
    package let address: DeviceAddress?
    /// How it is attached; `nil` if the kernel does not tell, as of one that is taken.
    package let bus: Management.Bus?
    /// What the kernel knows of it; `nil` if it does not tell.
    package let information: Management.Information?
    /// How its radio is silenced; `nil` if it is not.
    package let block: RadioSwitch.Block?
    /// The programs that may be the one that uses it.
    package let holders: [AdapterHolder]

    /// Looks at all adapters that there are, lowest number first.
    ///
    /// - Throws: Why the kernel does not say.
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

    /// What stands in the way of the use of this adapter by `program`, what has to be cured first at the beginning.
    ///
    /// One that somebody asked for (`isNamed`) is taken from the kernel's host.
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
    /// The first adapter that nobody uses and this program may.
    ///
    /// - Throws: Why there is none: what stands in the way of the first of all, if there are any.
    package static func firstUsable(in kernel: some AdapterKernel) throws(TransportError) -> Self {
        try firstUsable(among: Adapter.all(in: kernel), for: kernel.program, isPrivileged: kernel.isPrivileged)
    }

    /// The first of `adapters` that nobody uses and `program` may.
    ///
    /// - Throws: As above.
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
