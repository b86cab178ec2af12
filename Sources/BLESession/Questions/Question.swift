package import BLEHost
package import BLEWire

/// A question or command for the daemon, which can be sent without a session.
package enum Question: TaggedEnum, Packet {
    /// The sessions of running apps, and those kept for apps that have ended. Root and the daemon's user get the
    /// sessions of all users; other users get only their own.
    case apps
    /// The permissions of the app whose process ID is `process`.
    case grant(process: UInt32)
    /// Changes the phase of the app whose process ID is `process`.
    ///
    /// Only users to whom ``apps`` shows the app may do this.
    case move(process: UInt32, to: AppPhase)
    /// Quits the app whose process ID is `process`, as its user would: its session ends, and it is not launched again.
    case quit(process: UInt32)
    /// The journal lines with numbers above `after` that are about the daemon itself, or about an app that the user may
    /// see.
    case journal(after: UInt64)
    /// The radios, and whether they are switched on.
    case radios
    /// Switches Bluetooth on or off, for one radio or, if `radio` is `nil`, for all. Only root and the daemon's user
    /// may do this.
    case power(radio: String?, isOn: Bool)
    /// Ends the links to a peer, or all links if the peer is `nil`, of the apps that the user may see.
    case endLinks(to: PeerIdentifier?)

    package init() { self = .apps }

    package var code: UInt8 {
        switch self {
        case .apps: 1
        case .grant: 2
        case .move: 3
        case .quit: 4
        case .journal: 5
        case .radios: 6
        case .power: 7
        case .endLinks: 8
        }
    }

    package init?(blank code: UInt8) {
        switch code {
        case 1: self = .apps
        case 2: self = .grant(process: 0)
        case 3: self = .move(process: 0, to: .foreground)
        case 4: self = .quit(process: 0)
        case 5: self = .journal(after: 0)
        case 6: self = .radios
        case 7: self = .power(radio: nil, isOn: false)
        case 8: self = .endLinks(to: nil)
        default: return nil
        }
    }

    package mutating func fields(_ wire: inout some AnyWire) throws(PacketError) {
        switch self {
        case .apps, .radios: break
        case .grant(var process):
            try wire.integer(&process, "Process")
            self = .grant(process: process)
        case .move(var process, var phase):
            try wire.integer(&process, "Process")
            try wire.field(&phase, "Phase")
            self = .move(process: process, to: phase)
        case .quit(var process):
            try wire.integer(&process, "Process")
            self = .quit(process: process)
        case .journal(var number):
            try wire.integer(&number, "Number")
            self = .journal(after: number)
        case .power(var radio, var isOn):
            try wire.text(&radio, "Radio")
            try wire.flag(&isOn, "On")
            self = .power(radio: radio, isOn: isOn)
        case .endLinks(var peer):
            try wire.optional(&peer, blank: .blank, "Peer")
            self = .endLinks(to: peer)
        }
    }
}

/// The daemon's answer to a question.
package enum Answer: TaggedEnum, Packet {
    case apps([SessionInfo])
    case grant(AppPermissions)
    /// The command was carried out.
    case done
    /// The question or command is refused, for this reason.
    case refused(Refusal)
    case journal([JournalLine])
    case radios([RadioInfo])

    package init() { self = .done }

    package var code: UInt8 {
        switch self {
        case .apps: 1
        case .grant: 2
        case .done: 3
        case .refused: 4
        case .journal: 5
        case .radios: 6
        }
    }

    package init?(blank code: UInt8) {
        switch code {
        case 1: self = .apps([])
        case 2: self = .grant(AppPermissions())
        case 3: self = .done
        case 4: self = .refused(Refusal())
        case 5: self = .journal([])
        case 6: self = .radios([])
        default: return nil
        }
    }

    package mutating func fields(_ wire: inout some AnyWire) throws(PacketError) {
        switch self {
        case .apps(var apps):
            try wire.sequence(&apps, "App")
            let hasLosses = apps.contains { $0.droppedReports > 0 }
            var losses = hasLosses ? PacketList(apps.map { SessionInfo.Losses(total: $0.droppedReports) }) : nil
            try wire.tail(&losses)
            for (index, loss) in zip(apps.indices, losses?.elements ?? []) { apps[index].droppedReports = loss.total }
            self = .apps(apps)
        case .grant(var grant):
            try grant.layout(&wire)
            self = .grant(grant)
        case .done: break
        case .refused(var refusal):
            try refusal.layout(&wire)
            self = .refused(refusal)
        case .journal(var lines):
            try wire.sequence(&lines, "Line")
            self = .journal(lines)
        case .radios(var radios):
            try wire.sequence(&radios, "Radio")
            self = .radios(radios)
        }
    }
}
