import BLEHost
import BLEWire

/// The state as one process has it: what it found or last wrote, with what it has learnt since.
struct StateDraft {
    private(set) var document: StateDocument
    /// What was learnt since, of each peer in one piece.
    private var unwritten: [PeerChange] = []
    private var pacing = WritePacing()
    /// Why nothing could be written.
    private var problem: FileProblem?

    /// Creates the draft of a process that has learnt nothing yet.
    init(_ document: StateDocument, problem: FileProblem? = nil) {
        self.document = document
        self.problem = problem
    }

    /// Something was learnt of a peer.
    mutating func remember(_ record: PeerRecord, at now: Instant) -> WritePacing.OnChange {
        let change = PeerChange(from: document.known(of: record), to: record)
        guard document.apply(change) == .remembered else { return .wait }
        add(change)
        return pacing.changed(change.urgency, at: now)
    }

    /// What is to be written now, if it is time, or if there is no more time; `nil` if nothing is.
    mutating func begin(at now: Instant, isLast: Bool = false) -> [PeerChange]? {
        guard pacing.begin(at: now, isLast: isLast) == .write else { return nil }
        defer { unwritten = [] }
        return unwritten
    }

    /// What was to be written is in the file, which now is `stored`.
    mutating func stored(_ stored: StateDocument, at now: Instant) -> WritePacing.OnChange {
        document = stored
        for change in unwritten { _ = document.apply(change) }
        problem = nil
        return pacing.ended(isWritten: true, at: now)
    }

    /// What was to be written is not: it is tried again, and `isNews` says whether that is to be told.
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

    /// Adds what was learnt to what is not written yet; peers that were forgotten meanwhile need not be.
    private mutating func add(_ change: PeerChange) {
        let earlier = unwritten.firstIndex { $0.after.identifier == change.after.identifier }
        unwritten.append(earlier.map { unwritten.remove(at: $0).followed(by: change) } ?? change)
        if unwritten.count > document.peers.count {
            unwritten.removeAll { document.known(of: $0.after) == nil }
        }
    }
}
