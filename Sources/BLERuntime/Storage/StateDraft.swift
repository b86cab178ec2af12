import BLEHost
import BLEWire

/// A process's view of the state: what it has read or last written, and its changes since then.
struct StateDraft {
    private(set) var document: StateDocument
    /// The unwritten changes, one per peer.
    private var unwritten: [PeerChange] = []
    private var pacing = WritePacing()
    /// The reason why nothing could be written.
    private var problem: FileProblem?

    /// Creates a draft without changes.
    init(_ document: StateDocument, problem: FileProblem? = nil) {
        self.document = document
        self.problem = problem
    }

    /// Records a change of a peer.
    mutating func remember(_ record: PeerRecord, at now: Instant) -> WritePacing.OnChange {
        let change = PeerChange(from: document.known(of: record), to: record)
        guard document.apply(change) == .remembered else { return .wait }
        add(change)
        return pacing.changed(change.urgency, at: now)
    }

    /// Returns the changes to write now, if it is time or the process is about to end; `nil` if there are none.
    mutating func begin(at now: Instant, isLast: Bool = false) -> [PeerChange]? {
        guard pacing.begin(at: now, isLast: isLast) == .write else { return nil }
        defer { unwritten = [] }
        return unwritten
    }

    /// Records that the changes were written; `stored` is the new contents of the file.
    mutating func stored(_ stored: StateDocument, at now: Instant) -> WritePacing.OnChange {
        document = stored
        for change in unwritten { _ = document.apply(change) }
        problem = nil
        return pacing.ended(isWritten: true, at: now)
    }

    /// Records that the changes were not written and will be tried again; `isNews` tells whether to log that.
    mutating func failed(
        _ reason: FileProblem,
        _ changes: [PeerChange],
        at now: Instant
    ) -> (next: WritePacing.OnChange, isNews: Bool) {
        let news = unwritten, isNews = reason != problem
        unwritten = changes
        for change in news { add(change) }
        problem = reason
        return (pacing.ended(isWritten: false, at: now), isNews)
    }

    /// Adds a change to the unwritten ones, unless its peer was dropped meanwhile.
    private mutating func add(_ change: PeerChange) {
        let earlier = unwritten.firstIndex { $0.after.identifier == change.after.identifier }
        unwritten.append(earlier.map { unwritten.remove(at: $0).followed(by: change) } ?? change)
        if unwritten.count > document.peers.count {
            unwritten.removeAll { document.known(of: $0.after) == nil }
        }
    }
}
