import BLEWire

/// What a host knows of its few links, in the order of their handles.
///
/// What a host does first must not depend on how this process hashes, so the cores iterate no `Dictionary`. A
/// controller has a few dozen links at most: a sorted array is also the faster map.
struct ConnectionTable<Value> {
    private var entries: [(handle: ConnectionHandle, value: Value)] = []

    var count: Int { entries.count }
    var handles: [ConnectionHandle] { entries.map(\.handle) }
    var values: some Sequence<Value> { entries.lazy.map(\.value) }

    /// The value of `handle`, or `nil` if there is no such link; setting `nil` removes it.
    subscript(handle: ConnectionHandle) -> Value? {
        get { index(of: handle).map { entries[$0].value } }
        set {
            switch (index(of: handle), newValue) {
            case (let index?, let value?): entries[index].value = value
            case (let index?, nil): entries.remove(at: index)
            case (nil, let value?):
                let index = entries.firstIndex { $0.handle > handle } ?? entries.endIndex
                entries.insert((handle, value), at: index)
            case (nil, nil): break
            }
        }
    }

    /// Changes the value of `handle` in place; does nothing, and returns `nil`, if there is none.
    @discardableResult
    mutating func update<Result>(_ handle: ConnectionHandle, _ body: (inout Value) -> Result) -> Result? {
        index(of: handle).map { body(&entries[$0].value) }
    }

    /// Where the value of `handle` is at the moment, or `nil` if there is none.
    func index(of handle: ConnectionHandle) -> Int? { entries.firstIndex { $0.handle == handle } }

    /// The handle at a place, `0..<count`.
    func handle(at index: Int) -> ConnectionHandle { entries[index].handle }

    /// The first place whose handle is greater than `handle`, or `nil` if there is none.
    func index(after handle: ConnectionHandle) -> Int? { entries.firstIndex { $0.handle > handle } }

    /// The value at a place that ``index(of:)`` gave, which can be changed there without a copy.
    subscript(at index: Int) -> Value {
        _read { yield entries[index].value }
        _modify { yield &entries[index].value }
    }

    /// The first handle whose value fits.
    func handle(where fits: (Value) -> Bool) -> ConnectionHandle? {
        entries.first { fits($0.value) }?.handle
    }

    mutating func removeAll() { entries.removeAll() }
}
