import BLEController
package import BLEExplain
import BLEHost
import BLERuntime
package import BLEWire

extension World {
    /// Records everything from now on for ``page``, including the packets on the air.
    ///
    /// Without this call, the page contains only what the ``story`` contains: the last calls, callbacks and packets.
    public func recordPage() { recordPage { _, _ in nil } }

    /// An HTML page of what has happened in the world so far, with the causes of failures.
    ///
    /// The page needs no network and contains no pairing keys. It shows everything since the call of ``recordPage()``
    /// or, without that call, only recent events.
    ///
    /// ```swift
    /// Attachment.record(world.page, named: "page.html")
    /// ```
    public var page: String {
        ExplainPage(timeline, title: "A world with seed \(core.withLock { $0.seed }), after \(now)").html
    }

    /// Records everything from now on for ``page``; `reading` decodes the values of characteristics.
    package func recordPage(reading: @escaping @Sendable (BluetoothUUID, [UInt8]) -> String?) {
        change { core in
            guard core.recorder == nil else { return }
            core.recorder = PageRecorder(keys: false, reading: reading)
            // In real time, the air may not have been called for a while, and must not run the events of that time now.
            if core.air.pausesUnheardAdvertising { core.air.wake(at: core.now) }
            core.air.recordsAir = true
        }
    }

    /// Moves to a timeline what was recorded since the last call; returns true if there are new events.
    ///
    /// Requires ``recordPage(reading:)``.
    package func record(to live: inout LiveTimeline) -> Bool {
        withCore { core in
            let now = core.now
            return core.recorder?.move(to: &live, until: now) ?? false
        }
    }

    /// The events of the world so far.
    package var timeline: Timeline {
        withCore { core in
            var timeline = core.recorder?.builder.finish() ?? core.story.timeline { core.stations[$0].name }
            timeline.end = core.now.nanoseconds
            return timeline
        }
    }
}

extension Story {
    /// Returns the recent events as a timeline; `name` returns the name of the machine with the given index.
    func timeline(name: (Int) -> String) -> Timeline {
        var builder = TimelineBuilder(isWorld: true), transcript = before, packets = packets.all[...]
        for (time, entry) in entries.all {
            while let packet = packets.first, packet.time <= time {
                builder.add(packet)
                packets.removeFirst()
            }
            switch entry {
            case .asked(let request, let machine, _, let client):
                let text = "app \(client) requests: \(transcript.line(request, of: client))"
                builder.add(text: text, of: PacketSource(machine: name(machine)), at: time)
            case .delivered(let event, let machine, _, let client):
                let text = "app \(client) receives: \(transcript.line(event, to: client))"
                builder.add(text: text, of: PacketSource(machine: name(machine)), at: time)
            case .remark(let text, let machine):
                builder.add(text: text, of: PacketSource(machine: name(machine)), at: time)
            }
        }
        for packet in packets { builder.add(packet) }
        return builder.finish()
    }
}
