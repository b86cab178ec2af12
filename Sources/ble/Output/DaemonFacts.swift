import BLEHost
import BLERuntime
import BLESession
import BLEWire
import CoreBluetooth

extension SessionInfo {
    /// The titles of the columns in the text of ``fact``.
    static let columns = Self.line("PROCESS", "ROLE", "STATE", "RADIO", "USE", "RECEIVED", "PROGRAM")

    private static func line(
        _ process: String,
        _ role: String,
        _ phase: String,
        _ radio: String,
        _ doings: String,
        _ events: String,
        _ program: String
    ) -> String {
        [
            process.padded(to: 8), role.padded(to: 10), phase.padded(to: 10), radio.padded(to: 8),
            doings.padded(to: 20), events.padded(to: 12), program,
        ].joined(separator: "  ")
    }

    /// The session as a fact, with one line of text.
    var fact: Fact {
        var fields: [String: Any] = [
            "user": Int(user), "program": program, "role": role.name, "phase": phase.name, "radio": radio,
            "links": links.map { $0.peer.text }, "scans": use.isScanning, "advertises": use.isAdvertising,
            "services": Int(use.services), "requests": Int(clamping: use.requests), "events": Int(clamping: use.events),
            "dropped_reports": Int(clamping: droppedReports),
        ]
        fields["process"] = process.map { Int($0) }
        fields["restore_identifier"] = restoreIdentifier
        let who = process.map { "\($0)" } ?? "kept"
        let identifier = restoreIdentifier.map { "  restores “\($0.printable)”" } ?? ""
        let text = Self.line(
            who,
            role.name,
            phase.name,
            radio.printable,
            usageSummary,
            use.events.withNoun("event"),
            program.printable + identifier
        )
        return Fact("app", fields, text: text)
    }

    /// A summary of the session's use of the radio, for the text of ``fact``.
    private var usageSummary: String {
        func count(_ number: Int, _ what: String) -> String? { number == 0 ? nil : number.withNoun(what) }
        let all = [
            use.isScanning ? "scans" : nil, use.isAdvertising ? "advertises" : nil,
            count(Int(use.services), "service"), count(links.count, "link"),
            count(Int(clamping: droppedReports), "report").map { "\($0) dropped" },
        ].compactMap { $0 }
        return all.isEmpty ? "nothing" : all.joined(separator: ", ")
    }
}

extension RadioInfo {
    /// The radio as a fact, with one line of text.
    var fact: Fact {
        Fact("radio", ["name": name, "on": isOn], text: "\(name.printable) is \(isOn ? "on" : "off").")
    }
}

/// A link, with all apps that share it.
struct SharedLink {
    let peer: PeerIdentifier
    let radio: String
    private(set) var name: String?
    private(set) var apps: [SessionInfo] = []

    /// Returns the links that the apps use, each link once, in the order of the apps.
    static func all(of apps: [SessionInfo]) -> [Self] {
        var links: [Self] = []
        for app in apps {
            for link in app.links {
                if !links.contains(where: { $0.peer == link.peer && $0.radio == app.radio }) {
                    links.append(Self(peer: link.peer, radio: app.radio))
                }
                for index in links.indices where links[index].peer == link.peer && links[index].radio == app.radio {
                    links[index].name = links[index].name ?? link.name
                    links[index].apps.append(app)
                }
            }
        }
        return links
    }

    /// A phrase that names the link in a sentence.
    var title: String { "The link to \(name.map { "“\($0.printable)”" } ?? peer.text)" }

    /// Returns whether `text` is the identifier or the name of the link's peer, ignoring case.
    func isCalled(_ text: String) -> Bool {
        peer.text.lowercased() == text.lowercased() || name?.lowercased() == text.lowercased()
    }

    /// The titles of the columns in the text of ``fact``.
    static let columns = "\("PEER".padded(to: 36))  \("NAME".padded(to: 20))  APPS"

    var fact: Fact {
        var fields: [String: Any] = [
            "identifier": peer.text, "peer": peer.text, "radio": radio,
            "processes": apps.compactMap { $0.process.map { Int($0) } },
            "programs": apps.map(\.program),
        ]
        fields["name"] = name
        let holders = apps.map { app in
            let program = app.program.split(separator: "/").last.map(String.init) ?? "?"
            return "\(program.printable) (\(app.process.map { "\($0)" } ?? "kept"))"
        }
        let text = "\(peer.text)  \((name ?? "").printable.padded(to: 20))  \(holders.joined(separator: ", "))"
        return Fact("link", fields, text: text)
    }
}

extension AppPhase {
    /// The phase as written on the command line.
    fileprivate var name: String {
        switch self {
        case .foreground: "foreground"
        case .background: "background"
        case .suspended: "suspended"
        }
    }
}

extension AppPermissions {
    /// Returns a fact about the permissions of the app with the process ID `process`.
    func fact(of process: UInt32) -> Fact {
        var fields: [String: Any] = [
            "process": Int(process), "user": Int(user), "program": program, "roles": roles.map(\.name),
            "pairing": pairs, "addresses": seesAddresses, "admin": isAdministrator,
            "because": origin,
        ]
        fields["radios"] = radios
        fields["services"] = services.map { $0.map { "\($0)" } }
        func line(_ title: String, _ value: String) -> String { "  \(title.padded(to: 11))\(value)" }
        func list(_ values: [String]?) -> String { values.map { $0.joined(separator: ", ") } ?? "all" }
        let rest = [
            line("roles", list(roles.map(\.name))), line("radios", list(radios)),
            line("services", list(services?.map { "\($0)" })), line("pairing", pairs ? "yes" : "no"),
            line("addresses", seesAddresses ? "yes" : "no"), line("admin", isAdministrator ? "yes" : "no"),
        ]
        let may = roles.isEmpty ? "may not use Bluetooth" : "may use Bluetooth"
        let name = program.isEmpty ? "" : program.printable + ", "
        let head = "Process \(process) (\(name)user \(user)) \(may): \(origin.printable)"
        let lines = roles.isEmpty ? [head] : [head] + rest
        return Fact("policy", fields, text: lines.joined(separator: "\n"))
    }
}

extension JournalLine {
    /// The titles of the columns in the text of ``fact``.
    static let columns = "\("TIME".padded(to: 27))  \("PROCESS".padded(to: 8))  \("PROGRAM".padded(to: 12))  EVENT"

    /// The log entry as a fact.
    ///
    /// `noted` is the previous name of `time`; the next release removes it.
    var fact: Fact {
        let time = Timestamp(nanoseconds: Int64(clamping: time)), stamp = time.rfc3339
        var fields: [String: Any] = [
            "number": Int(clamping: number), "noted": stamp, "program": program, "text": text, "count": Int(count),
        ]
        fields["process"] = process.map { Int($0) }
        fields["user"] = user.map { Int($0) }
        let name = program.split(separator: "/").last.map(String.init) ?? (user == nil ? "bled" : "?")
        let who = "\((process.map { "\($0)" } ?? "").padded(to: 8))  \(name.printable.padded(to: 12))"
        let text = "\(stamp)  \(who)  \(text.printable)" + (count > 1 ? " (\(count) times)" : "")
        return Fact("log", fields, text: text, at: time)
    }
}

extension PeerIdentifier {
    /// The identifier in the form of a UUID, as apps see it.
    fileprivate var text: String { UUID(self).uuidString }
}
