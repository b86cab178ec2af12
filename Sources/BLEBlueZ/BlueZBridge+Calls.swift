import BLEHost
import DBus

extension BlueZBridge {
    /// Carries out a call by a program whose credentials are known.
    mutating func perform(_ call: BusMessage) {
        let caller = Caller(call)
        guard clients[caller.sender]?.pending ?? 0 < Limit.pendingCalls else { return send(.limitReached, to: caller) }
        _ = clients.update(caller.sender) { $0.pending += 1 }
        do throws(BlueZError) {
            if let values = try answer(call, caller) { reply(to: caller, values) }
        } catch {
            refuse(caller, error)
        }
    }

    /// Returns the results of a call; `nil` if the reply follows later.
    private mutating func answer(_ call: BusMessage, _ caller: Caller) throws(BlueZError) -> [BusValue]? {
        guard let path = call.path, let member = call.member else { throw .invalidArguments }
        let interface = call.interface ?? interface(of: member, at: path)
        if interface == "org.freedesktop.DBus.Peer", member == "Ping" { return [] }
        guard tree.contains(path) else { throw .unknown("Object", call) }
        guard let method = BlueZ.methods(of: interface).first(where: { $0.name == member }),
            isStandard(interface, at: path) || tree.properties(path, interface) != nil
        else { throw .unknown("Method", call) }
        guard call.signature == method.arguments else { throw .unknown("Method", call) }
        switch interface {
        case ObjectTree.objectManager: return [tree.managedObjects]
        case ObjectTree.introspectable: return [.string(Introspection.document(of: path, in: tree))]
        case ObjectTree.properties: return try answerProperties(member, path, call.body, caller)
        case BlueZ.adapter: return try answerAdapter(member, call.body, caller)
        case BlueZ.device: return try answerDevice(member, path, caller)
        case BlueZ.characteristic, BlueZ.descriptor: return try answerAttribute(member, path, call.body, caller)
        case BlueZ.agents: return try answerAgents(member, call.body, caller)
        case BlueZ.applications: return try answerApplications(member, call.body, caller)
        case BlueZ.advertisements: return try answerAdvertisements(member, call.body, caller)
        case BlueZ.monitors: return try answerMonitors(member, call.body, caller)
        default: throw .unknown("Method", call)
        }
    }

    private func isStandard(_ interface: String, at path: String) -> Bool {
        switch interface {
        case ObjectTree.introspectable, ObjectTree.properties: true
        case ObjectTree.objectManager: path == "/"
        default: false
        }
    }

    /// Returns the interface that has the method `member`, for callers that do not name one; empty if no interface has
    /// it.
    private func interface(of member: String, at path: String) -> String {
        let standard = [ObjectTree.introspectable, ObjectTree.properties, ObjectTree.objectManager]
        let all = standard + tree.interfaces(of: path).map(\.name)
        return all.first { BlueZ.methods(of: $0).contains { $0.name == member } } ?? ""
    }

    /// Returns the properties of an object's interface; `nil` if the object does not have the interface.
    ///
    /// The property `Value` of an attribute is the value that `client` last received, if there is one.
    private func properties(of path: String, _ interface: String, for client: String) -> [ObjectTree.Property]? {
        guard var properties = tree.properties(path, interface) else { return nil }
        if let value = clients[client]?.values[path], let index = properties.firstIndex(where: { $0.name == "Value" }) {
            properties[index].value = .octets(value)
        }
        return properties
    }

    private mutating func answerProperties(
        _ member: String,
        _ path: String,
        _ body: [BusValue],
        _ caller: Caller
    ) throws(BlueZError) -> [BusValue]? {
        guard let interface = body.first?.text else { throw .invalidArguments }
        guard let properties = properties(of: path, interface, for: caller.sender) else {
            if member == "GetAll", isStandard(interface, at: path) { return [.properties([])] }
            throw .unknownInterface(interface)
        }
        if member == "GetAll" { return [.properties(properties.map { ($0.name, $0.value) })] }
        guard body.count > 1, let name = body[1].text else { throw .invalidArguments }
        if member == "Get" {
            guard let value = properties.first(where: { $0.name == name })?.value else { throw .unknownProperty(name) }
            return [.variant(value)]
        }
        guard body.count > 2, case .variant(let value) = body[2] else { throw .invalidArguments }
        guard let old = properties.first(where: { $0.name == name })?.value else { throw .unknownProperty(name) }
        guard BlueZ.isWritable(name, of: interface) else { throw .readOnly(name) }
        guard value.type == old.type else { throw .invalidSignature(name) }
        if interface == BlueZ.adapter {
            try setAdapter(name, value, caller)
        } else {
            try setDevice(path, name, value, caller)
        }
        return []
    }
}
