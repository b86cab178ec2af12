package import BLEHost
import BLEWire
import Glibc

extension TransportError {
    /// What a host makes of it that there is no controller for this reason.
    package var absence: Host.Absence {
        switch code {
        case .forbidden: .forbidden
        case .switchedOff: .switchedOff
        case .unreachable, .closed, .garbage, .congested: .missing
        }
    }

    /// The kernel has no Bluetooth, or does not show it here.
    static var noBluetooth: Self {
        Self(
            .unreachable,
            errno: EAFNOSUPPORT,
            "the kernel has no Bluetooth here",
            cure: """
                Load it with “sudo modprobe bluetooth”; a container sees it if it shares the network of the machine \
                (“--network=host”).
                """
        )
    }

    /// This program may not take adapters.
    static func forbidden(_ index: AdapterIndex, program: String) -> Self {
        Self(
            .forbidden,
            errno: EPERM,
            "\(program) may not use \(index)",
            cure: """
                Allow it with “sudo setcap cap_net_admin+ep \(program)”, or in a unit of systemd with \
                “AmbientCapabilities=CAP_NET_ADMIN”; a container needs “--cap-add=NET_ADMIN”.
                """
        )
    }

    /// Somebody else uses the adapter.
    static func held(_ index: AdapterIndex, errno: Int32, by holders: [AdapterHolder]) -> Self {
        let names = holders.map(\.description).joined(separator: ", ")
        let who = holders.isEmpty ? "another program" : names
        let cure =
            holders.contains(where: \.isBlueZ)
            ? "Have BlueZ let go of it with “bluetoothctl power off” or “sudo systemctl stop bluetooth”."
            : "End that program, or use another adapter; “ble adapters” shows those that there are."
        return Self(.unreachable, errno: errno, "\(index) is in use by \(who)", cure: cure)
    }

    /// The radio of the adapter is silenced.
    static func silenced(_ index: AdapterIndex, _ block: RadioSwitch.Block) -> Self {
        switch block {
        case .soft:
            Self(
                .switchedOff,
                errno: ERFKILL,
                "\(index) is blocked",
                cure: "Unblock it with “rfkill unblock bluetooth”."
            )
        case .hard:
            Self(
                .switchedOff,
                errno: ERFKILL,
                "\(index) is blocked by a switch of the machine",
                cure: "Switch it on with that switch or key, or in the firmware's setup."
            )
        }
    }

    /// There is no such adapter.
    static func missing(_ reference: AdapterReference, among indexes: [AdapterIndex]) -> Self {
        let others = indexes.map(\.description).joined(separator: ", ")
        let what = indexes.isEmpty ? "the machine has no Bluetooth adapter" : "there is only \(others)"
        return Self(.unreachable, errno: ENODEV, what, cure: "Plug \(reference) in; it is used as soon as it is there.")
    }

    /// The adapter could not be taken for another reason.
    static func unusable(_ index: AdapterIndex, errno: Int32, doing what: String) -> Self {
        Self(.unreachable, errno: errno, "\(what) \(index)", cure: "The kernel's log may say why: “dmesg | tail”.")
    }
}
