import DBus

/// The objects that the bridge exports, with their interfaces and properties, and the pending signals about changes.
struct ObjectTree: Sendable {
    /// A property and its value.
    typealias Property = (name: String, value: BusValue)

    struct Interface: Sendable {
        let name: String
        var properties: [Property]
    }

    private struct Node: Sendable {
        var interfaces: [Interface] = []
        /// The last components of the paths of the objects directly below this one.
        var children: [String] = []
    }

    private struct Change: Sendable {
        let path: String
        let interface: String
        var names: [String]
        var invalidated: [String]
    }

    static let properties = "org.freedesktop.DBus.Properties"
    static let introspectable = "org.freedesktop.DBus.Introspectable"
    static let objectManager = "org.freedesktop.DBus.ObjectManager"

    private var nodes: [String: Node] = ["/": Node()]
    private var changes: [Change] = []
    private var signals: [BusMessage] = []

    /// The number of objects, including those that have no interfaces and exist only because there are objects below
    /// them.
    var count: Int { nodes.count }

    func contains(_ path: String) -> Bool { nodes[path] != nil }

    func interfaces(of path: String) -> [Interface] { nodes[path]?.interfaces ?? [] }

    func children(of path: String) -> [String] { nodes[path]?.children ?? [] }

    func properties(_ path: String, _ interface: String) -> [Property]? {
        nodes[path]?.interfaces.first { $0.name == interface }?.properties
    }

    func value(_ path: String, _ interface: String, _ name: String) -> BusValue? {
        properties(path, interface)?.first { $0.name == name }?.value
    }

    /// Adds an object, or adds interfaces to an object, and signals the addition.
    mutating func add(_ path: String, _ interfaces: [Interface]) {
        attach(path)
        nodes[path]?.interfaces += interfaces
        var signal = Self.signal("/", Self.objectManager, "InterfacesAdded")
        signal.body = [.path(path), Self.encoded(interfaces)]
        signals.append(signal)
    }

    /// Removes an object and all objects below it, the lowest ones first, and signals their removal.
    mutating func remove(_ path: String) {
        guard let node = nodes[path] else { return }
        for child in node.children { remove(Self.join(path, child)) }
        nodes[path] = nil
        changes.removeAll { $0.path == path }
        let (parent, name) = Self.split(path)
        nodes[parent]?.children.removeAll { $0 == name }
        guard !node.interfaces.isEmpty else { return }
        var signal = Self.signal("/", Self.objectManager, "InterfacesRemoved")
        let standard = [Self.introspectable, Self.properties]
        signal.body = [.path(path), .strings(node.interfaces.map(\.name) + standard)]
        signals.append(signal)
    }

    /// Removes one interface of an object.
    mutating func remove(_ interface: String, of path: String) {
        guard let index = nodes[path]?.interfaces.firstIndex(where: { $0.name == interface }) else { return }
        nodes[path]?.interfaces.remove(at: index)
        changes.removeAll { $0.path == path && $0.interface == interface }
        var signal = Self.signal("/", Self.objectManager, "InterfacesRemoved")
        signal.body = [.path(path), .strings([interface])]
        signals.append(signal)
    }

    /// Sets a property; `nil` removes it.
    ///
    /// All changes to an interface until the next call to ``takeSignals()`` become one signal.
    ///
    /// If `isForced` is true, the value is signalled even if it is the same as before.
    mutating func set(
        _ path: String,
        _ interface: String,
        _ name: String,
        _ value: BusValue?,
        isForced: Bool = false
    ) {
        guard let place = nodes[path]?.interfaces.firstIndex(where: { $0.name == interface }) else { return }
        let index = nodes[path]?.interfaces[place].properties.firstIndex { $0.name == name }
        switch (index, value) {
        case (let index?, let value?):
            guard isForced || nodes[path]?.interfaces[place].properties[index].value != value else { return }
            nodes[path]?.interfaces[place].properties[index].value = value
        case (nil, let value?): nodes[path]?.interfaces[place].properties.append((name, value))
        case (let index?, nil): nodes[path]?.interfaces[place].properties.remove(at: index)
        case (nil, nil): return
        }
        note(path, interface, name, isRemoved: value == nil)
    }

    private mutating func note(_ path: String, _ interface: String, _ name: String, isRemoved: Bool) {
        var index = changes.firstIndex { $0.path == path && $0.interface == interface }
        if index == nil {
            changes.append(Change(path: path, interface: interface, names: [], invalidated: []))
            index = changes.count - 1
        }
        guard let index else { return }
        changes[index].names.removeAll { $0 == name }
        changes[index].invalidated.removeAll { $0 == name }
        if isRemoved { changes[index].invalidated.append(name) } else { changes[index].names.append(name) }
    }

    /// Returns and removes the signals that have accumulated since the previous call to this method.
    ///
    /// The signals about added and removed objects come first, those about changed properties last.
    mutating func takeSignals() -> [BusMessage] {
        guard !signals.isEmpty || !changes.isEmpty else { return [] }
        var taken = signals
        for change in changes {
            let values = change.names.compactMap { name in
                value(change.path, change.interface, name).map { (name, $0) }
            }
            var signal = Self.signal(change.path, Self.properties, "PropertiesChanged")
            signal.body = [.string(change.interface), .properties(values), .strings(change.invalidated)]
            taken.append(signal)
        }
        signals = []
        changes = []
        return taken
    }

    /// All objects with interfaces, as `GetManagedObjects` returns them.
    var managedObjects: BusValue {
        var entries: [BusValue] = []
        collect("/", into: &entries)
        return .array(of: .entry(.path, Self.interfacesType), entries)
    }

    private func collect(_ path: String, into entries: inout [BusValue]) {
        guard let node = nodes[path] else { return }
        if !node.interfaces.isEmpty { entries.append(.entry(.path(path), Self.encoded(node.interfaces))) }
        for child in node.children { collect(Self.join(path, child), into: &entries) }
    }

    /// Creates the missing nodes on the path to an object.
    private mutating func attach(_ path: String) {
        guard nodes[path] == nil else { return }
        nodes[path] = Node()
        let (parent, name) = Self.split(path)
        attach(parent)
        nodes[parent]?.children.append(name)
    }

    private static let interfacesType = BusType.array(.entry(.string, .array(.entry(.string, .variant))))

    private static func encoded(_ interfaces: [Interface]) -> BusValue {
        let standard = [introspectable, properties].map { Interface(name: $0, properties: []) }
        return .array(
            of: .entry(.string, .array(.entry(.string, .variant))),
            (standard + interfaces).map { interface in
                .entry(.string(interface.name), .properties(interface.properties.map { ($0.name, $0.value) }))
            }
        )
    }

    private static func signal(_ path: String, _ interface: String, _ member: String) -> BusMessage {
        BusMessage(kind: .signal, path: path, interface: interface, member: member)
    }

    private static func split(_ path: String) -> (parent: String, name: String) {
        guard let slash = path.lastIndex(of: "/") else { return ("/", path) }
        let parent = String(path[..<slash])
        return (parent.isEmpty ? "/" : parent, String(path[path.index(after: slash)...]))
    }

    static func join(_ path: String, _ name: String) -> String { path == "/" ? "/" + name : path + "/" + name }
}
