import DBus

/// XML descriptions of objects.
///
/// D-Bus Specification, Introspection Data Format. Some client libraries derive the types of arguments from a
/// description, so it lists every method, signal and property.
enum Introspection {
    static func document(of path: String, in tree: ObjectTree) -> String {
        var text = """
            <!DOCTYPE node PUBLIC "-//freedesktop//DTD D-BUS Object Introspection 1.0//EN" \
            "http://www.freedesktop.org/standards/dbus/1.0/introspect.dtd">
            <node>
            """
        var standard = [ObjectTree.introspectable, ObjectTree.properties]
        if path == "/" { standard.append(ObjectTree.objectManager) }
        for name in standard { text += element(for: name, properties: []) }
        for interface in tree.interfaces(of: path) {
            let present = interface.properties.map { (name: $0.name, type: $0.value.type.code) }
            let absent = BlueZ.properties(of: interface.name).filter { absent in
                !present.contains { $0.name == absent.name }
            }
            text += element(for: interface.name, properties: present + absent)
        }
        for child in tree.children(of: path) { text += "<node name=\"\(child)\"/>" }
        return text + "</node>"
    }

    private static func element(for interface: String, properties: [(name: String, type: String)]) -> String {
        var text = "<interface name=\"\(interface)\">"
        for method in BlueZ.methods(of: interface) {
            text += "<method name=\"\(method.name)\">"
            text += arguments(method.arguments, "in") + arguments(method.results, "out") + "</method>"
        }
        for signal in BlueZ.signals(of: interface) {
            text += "<signal name=\"\(signal.name)\">" + arguments(signal.arguments, nil) + "</signal>"
        }
        for property in properties {
            let access = BlueZ.isWritable(property.name, of: interface) ? "readwrite" : "read"
            text += "<property name=\"\(property.name)\" type=\"\(property.type)\" access=\"\(access)\"/>"
        }
        return text + "</interface>"
    }

    private static func arguments(_ signature: String, _ direction: String?) -> String {
        (BusType.list(signature) ?? []).map { type in
            let direction = direction.map { " direction=\"\($0)\"" } ?? ""
            return "<arg type=\"\(type.code)\"\(direction)/>"
        }.joined()
    }
}
