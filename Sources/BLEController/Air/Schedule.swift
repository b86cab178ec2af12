import BLEWire

/// A priority queue of activities on the air (a binary heap).
///
/// When the earliest entry is removed, the root of the heap stays vacant at first. Most activities schedule their
/// successor immediately, and the new entry then sinks from the root, which costs less than a full removal and an
/// insertion.
///
/// Removing an entry before its time is expensive. Most owners of an activity therefore leave the entry in the queue:
/// they keep the token of their latest entry, and ignore entries with an older token.
struct Schedule {
    /// A scheduled activity.
    enum Activity: Equatable {
        /// An advertising event of a set.
        case advertise(controller: Int, set: UInt8)
        /// An exchange or a timeout of the connection with this index.
        case link(Int)
        /// The end, the pause or the resumption of a scan.
        case scan(controller: Int)
        /// The replacement of a controller's private addresses.
        case rotation(controller: Int)

        /// The activity packed into one number: kind, set, and index of the controller or connection.
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
        /// The identifier of this entry.
        ///
        /// Tokens increase, so activities that are due at the same time run in the order in which they were scheduled.
        let token: UInt64
        /// The activity packed into one number, because entries are moved often and should be small.
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
    /// True if the root is vacant.
    private var isOpen = false

    /// The time of the earliest entry; `nil` if there is none.
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
        rise(added, from: heap.count - 1)
        return lastToken
    }

    /// Removes and returns the earliest entry if it is due by `now`; otherwise returns `nil`.
    mutating func next(by now: Instant) -> Entry? {
        if isOpen { close() }
        guard let first = heap.first, first.instant <= now else { return nil }
        isOpen = true
        return first
    }

    /// Removes the entry with this token, if there is one.
    ///
    /// Searches all entries. It is for activities that a host can reschedule any number of times.
    mutating func remove(_ token: UInt64) {
        if isOpen { close() }
        guard let index = heap.firstIndex(where: { $0.token == token }) else { return }
        let last = heap.removeLast()
        guard index < heap.count else { return }
        let parent = (index - 1) / 2
        if index > 0, last < heap[parent] { rise(last, from: index) } else { sink(last, from: index) }
    }

    /// Moves the last entry to the vacant root, from where it sinks to its position.
    private mutating func close() {
        isOpen = false
        let last = heap.removeLast()
        if !heap.isEmpty { sink(last) }
    }

    /// Moves `entry` up from the free position `child` to its position.
    private mutating func rise(_ entry: Entry, from child: Int) {
        var child = child
        while child > 0 {
            let parent = (child - 1) / 2
            guard entry < heap[parent] else { break }
            heap[child] = heap[parent]
            child = parent
        }
        heap[child] = entry
    }

    /// Moves `entry` down from the free position `parent`, by default the root, to its position.
    private mutating func sink(_ entry: Entry, from parent: Int = 0) {
        var entries = heap.mutableSpan, parent = parent
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

/// Arithmetic of the link layer in whole nanoseconds, because 128-bit durations would slow down every connection event.
extension Instant {
    /// Returns the instant `nanoseconds` after `instant`.
    @inline(__always)
    static func + (instant: Self, nanoseconds: Int64) -> Self {
        Self(nanoseconds: instant.nanoseconds &+ nanoseconds)
    }

    @inline(__always)
    static func <= (a: Self, b: Self) -> Bool { a.nanoseconds <= b.nanoseconds }
}
