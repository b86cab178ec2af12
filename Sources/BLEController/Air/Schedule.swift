import BLEWire

/// What has to happen on the air, earliest first: a binary heap.
///
/// The place of the entry that was taken out last stays vacant, since what happens mostly schedules what follows: the
/// new entry sinks from there, instead of another one first and then rising from the end.
///
/// Nothing is ever taken out of the middle. Whoever schedules remembers the token of its latest entry, and an entry
/// whose token is no longer remembered means nothing.
struct Schedule {
    /// What is to happen.
    enum Activity: Equatable {
        /// A set of a controller advertises.
        case advertise(controller: Int, set: UInt8)
        /// A connection has an event, or one of its ends a deadline.
        case link(Int)
        /// A scan changes by itself: its duration or its period is over.
        case scan(controller: Int)
        /// A controller replaces its private addresses.
        case rotation(controller: Int)

        /// All of it in one number: what it is, the number of the set, the place of the controller or connection.
        fileprivate var code: UInt64 {
            switch self {
            case .advertise(let controller, let set): UInt64(set) << 32 | UInt64(UInt32(controller))
            case .link(let index): 1 << 40 | UInt64(UInt32(index))
            case .scan(let controller): 2 << 40 | UInt64(UInt32(controller))
            case .rotation(let controller): 3 << 40 | UInt64(UInt32(controller))
            }
        }

        fileprivate init(code: UInt64) {
            let place = Int(code & 0xFFFF_FFFF)
            self =
                switch code >> 40 {
                case 0: .advertise(controller: place, set: UInt8(truncatingIfNeeded: code >> 32))
                case 1: .link(place)
                case 2: .scan(controller: place)
                default: .rotation(controller: place)
                }
        }
    }

    struct Entry {
        let instant: Instant
        /// Names this entry; grows, so that what is due at the same time happens in the order of scheduling.
        let token: UInt64
        /// The activity, small since entries are moved often.
        private let code: UInt64

        var activity: Activity { Activity(code: code) }

        init(instant: Instant, token: UInt64, activity: Activity) {
            self.instant = instant
            self.token = token
            code = activity.code
        }

        static func < (a: Self, b: Self) -> Bool {
            let (x, y) = (a.instant.nanoseconds, b.instant.nanoseconds)
            return x == y ? a.token < b.token : x < y
        }
    }

    private var heap: [Entry] = []
    private var lastToken: UInt64 = 0
    /// Whether the first place is vacant.
    private var isOpen = false

    /// When the earliest entry is due.
    var first: Instant? {
        guard isOpen else { return heap.first?.instant }
        guard heap.count > 2 else { return heap.count > 1 ? heap[1].instant : nil }
        return min(heap[1].instant, heap[2].instant)
    }

    /// Adds an entry and returns its token, which is never 0.
    mutating func add(_ activity: Activity, at instant: Instant) -> UInt64 {
        lastToken += 1
        let added = Entry(instant: instant, token: lastToken, activity: activity)
        if isOpen {
            isOpen = false
            sink(added)
            return lastToken
        }
        heap.append(added)
        var child = heap.count - 1
        while child > 0 {
            let parent = (child - 1) / 2
            guard added < heap[parent] else { break }
            heap[child] = heap[parent]
            child = parent
        }
        heap[child] = added
        return lastToken
    }

    /// Takes the earliest entry out, if it is due by `now`.
    mutating func next(by now: Instant) -> Entry? {
        if isOpen { close() }
        guard let first = heap.first, first.instant <= now else { return nil }
        isOpen = true
        return first
    }

    /// Fills the vacant place with the last entry.
    private mutating func close() {
        isOpen = false
        let last = heap.removeLast()
        if !heap.isEmpty { sink(last) }
    }

    /// Puts `entry` where the root was and lets it sink to its place.
    private mutating func sink(_ entry: Entry) {
        var entries = heap.mutableSpan, parent = 0
        while true {
            var child = 2 * parent + 1
            guard child < entries.count else { break }
            if child + 1 < entries.count, entries[child + 1] < entries[child] { child += 1 }
            guard entries[child] < entry else { break }
            entries[parent] = entries[child]
            parent = child
        }
        entries[parent] = entry
    }
}
