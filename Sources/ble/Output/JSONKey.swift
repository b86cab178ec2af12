/// The keys of the JSON objects that `ble` prints.
///
/// With few exceptions, a key has the same kind of value in all events.
///
/// docs/JSON.md describes the keys.
enum JSONKey {
    /// The kind of value that a key has.
    enum Kind {
        case text
        case flag
        case number
        /// A time in the format of RFC 3339, with fractions of a second.
        case time
        /// Hexadecimal digits.
        case octets
        case list
        case object
    }

    /// Returns the kind of a key's value in an event; `nil` if the key is unknown.
    static func kind(of key: String, in event: String) -> Kind? { exceptions[event]?[key] ?? kinds[key] }

    /// The kinds of keys that have another kind in one event than in ``kinds``, by event and key.
    private static let exceptions: [String: [String: Kind]] = [
        // `services` is the number of services here, and a descriptor's `value` may be text.
        "app": ["services": .number], "descriptor": ["value": .text],
    ]

    private static let kinds: [String: Kind] = [
        "event": .text, "time": .time, "worldTime": .number, "noted": .time, "age": .number, "count": .number,
        // The device, and its attributes.
        "identifier": .text, "name": .text, "peer": .text, "central": .text, "guest": .text, "address": .text,
        "service": .text, "characteristic": .text, "uuid": .text, "instance": .number, "primary": .flag,
        "includes": .list, "properties": .list, "maximum_write_length": .number,
        // Values.
        "value": .octets, "text": .text, "reading": .text, "number": .number, "unit": .text,
        // Advertisements.
        "rssi": .number, "connectable": .flag, "services": .list, "manufacturer_data": .octets, "tx_power": .number,
        "service_data": .object, "address_type": .text, "identity": .flag, "primary_phy": .text,
        "secondary_phy": .text, "legacy": .flag, "scannable": .flag, "flags": .number, "advertisement": .octets,
        "scan_response": .octets,
        // Channels and chats.
        "psm": .number, "sent": .number, "received": .number, "who": .text, "guests": .number, "step": .text,
        "steps": .number,
        // Errors.
        "error": .text, "reason": .text, "fault": .text,
        // Pairing and alerts.
        "cause": .text, "question": .text, "digits": .text, "replaces_bond": .flag, "method": .text, "bonded": .flag,
        "data": .octets, "authenticated": .flag, "secure_connections": .flag, "key_size": .number, "occasion": .text,
        "app": .text,
        // Packets, and the machines and programs in which they were captured.
        "machine": .text, "program": .text, "process": .number, "host": .number, "to": .text, "octets": .octets,
        "length": .number, "cut": .flag, "malformed": .flag, "redacted": .flag, "summary": .text,
        "layers": .list, "completed": .list, "type": .number,
        "opcode": .number, "event_code": .number, "subevent_code": .number, "handle": .number, "handles": .list,
        "att_opcode": .number, "smp_code": .number, "signal_code": .number,
        // The daemon.
        "user": .number, "role": .text, "phase": .text, "radio": .text, "links": .list, "scans": .flag,
        "advertises": .flag, "requests": .number, "events": .number, "dropped_reports": .number,
        "restore_identifier": .text, "on": .flag,
        "processes": .list, "programs": .list, "roles": .list, "pairing": .flag, "addresses": .flag, "admin": .flag,
        "because": .text, "radios": .list,
        // Adapters and controllers.
        "index": .number, "state": .text, "powered": .flag, "privileged": .flag, "holders": .list, "bus": .text,
        "blocked": .text, "title": .text, "manufacturer": .text, "version": .text, "low_energy": .flag,
        "features": .list, "states": .text, "buffers_shared": .flag, "acl_octets": .number, "acl_packets": .number,
        "accept_list": .number, "resolving_list": .number, "advertising_sets": .number, "advertising_octets": .number,
        "ports": .list, "port": .number, "code": .text, "severity": .text, "subject": .text, "cure": .text,
        "command": .text, "url": .text, "problems": .number, "warnings": .number, "usable": .flag,
        // The report of “ble toolset --objc”.
        "file": .text, "rewritten": .object, "left": .list,
    ]
}
