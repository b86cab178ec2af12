import BLEWire

/// The event masks that a host has set.
///
/// Core 6.0, Vol 4, Part E, 7.3.1, 7.3.69 and 7.8.1.
struct EventMasks: Sendable {
    var page1 = EventMask.standard
    var page2 = EventMaskPage2.none
    var le = LEEventMask.standard

    /// Returns whether the masks allow `event`.
    func allow(_ event: HCIEventPacket) -> Bool {
        if let subevent = event.subevent { return allow(subevent) }
        return allow(event.code)
    }

    /// Returns whether the masks allow a non-LE event.
    func allow(_ code: HCI.EventCode) -> Bool { code.wire >= 0x40 ? page2.allows(code) : page1.allows(code) }

    /// Returns whether the masks allow an LE event.
    func allow(_ subevent: HCI.LESubevent) -> Bool { page1.allows(.leMeta) && le.allows(subevent) }
}
