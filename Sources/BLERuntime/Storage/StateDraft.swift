import BLEHost
import BLEWire

/// A process's view of the stored state: the contents that it last read or wrote, with its own changes since then.
struct StateDraft {
    private(set) var document: StateDocument
    /// The changes that have not been written, one per peer.
    private var unwritten: [PeerChange] = []
    private var pacing = WritePacing()
    /// The reason why the last write failed; `nil` if it succeeded.
    private var problem: FileProblem?

    /// Creates a draft without changes.
    init(_ document: StateDocument, problem: FileProblem? = nil) {
        self.document = document
        self.problem = problem
    }

    /// Records a change to a peer, and returns when to write it.
    mutating func remember(_ record: PeerRecord, at now: Instant) -> WritePacing.OnChange {
        let change = PeerChange(from: document.known(of: record), to: record)
        guard document.apply(change) != .refused else { return .wait }
        add(change)
        return pacing.changed(change.urgency, at: now)
    }

    /// Returns the changes to write now; `nil` if it is too early to write, or there are no changes.
    ///
    /// If `isLast` is true, it is never too early.
    mutating func begin(at now: Instant, isLast: Bool = false) -> [PeerChange]? {
        guard pacing.begin(at: now, isLast: isLast) == .write else { return nil }
        defer { unwritten = [] }
        return unwritten
    }

    /// Records that the changes were written; returns when to write those that have been made in the meantime.
    ///
    /// `stored` is what the file contains now.
    mutating func stored(_ stored: StateDocument, at now: Instant) -> WritePacing.OnChange {
        document = stored
        for change in unwritten { _ = document.apply(change) }
        problem = nil
        return pacing.ended(isWritten: true, at: now)
    }

    /// Records that writing `changes` failed; the next write includes them again.
    ///
    /// `next` says when to write. `isNews` is true if the previous write did not fail for the same reason; `reason`
    /// should then be logged.
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

    /// Adds a change to the unwritten ones.
    ///
    /// If there are then more unwritten changes than peers in the document, the changes to peers that the document has
    /// dropped are removed.
    private mutating func add(_ change: PeerChange) {
        let earlier = unwritten.firstIndex { $0.after.identifier == change.after.identifier }
        unwritten.append(earlier.map { unwritten.remove(at: $0).followed(by: change) } ?? change)
        if unwritten.count > document.peers.count {
            unwritten.removeAll { document.known(of: $0.after) == nil }
        }
    }
}
